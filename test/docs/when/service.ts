import { type WrongSection } from './row.ts';

export const SERVICE: WrongSection = {
  title: 'The screening service as a whole',
  rows: [
    {
      happens: 'It does not answer in time, refuses or breaks connections, or answers 429 or 5xx to everybody.',
      holds: ['service_down'],
      events: ['fell_behind'],
      does: 'It stops calling when the first attempts for 20 keys in a row have failed; then one probe after 2 s, 4 s and every 8 s, each of a record that was not tried yet. Where no such record is left, each record is repeated by its own backoff, up to a minute. Partitions stay, no letter is written, no score is lost. The first success lets all calls out again.',
      mend: 'Look at the service. Nothing else: what waits goes out by itself, at full rate within seconds.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        ['integration/service-ill', 'when it answers 503 for a while, which is said as a hold'],
        ['integration/service-ill', 'when it takes longer than an attempt may'],
        [
          'integration/broken-scores',
          'that is never answered, for all payments at once, is bounded; they are scored when it is',
        ],
        [
          'property/attribution',
          'with %s for 10 minutes: nothing becomes a dead letter, it gets almost no requests, and all goes on within 10 s',
        ],
      ],
    },
    {
      happens: 'It cannot be connected to while there is nothing to send.',
      holds: ['service_down'],
      see: 'scope `probe` of the hold; `/readyz/scoring` and `/readyz/sync` 503',
      does: 'It is named within 15 s, and so is the end: nobody listens, TLS does not come about, or the proxy gives no way through. It connects and says nothing: no login, no payment.',
      mend: 'Look at the service and at what is between; `npx fraud-connector check` says what is wrong.',
      answers: ['nothing_moves'],
      shown: [
        [
          'process/silent-dependencies',
          'a registry that does not answer, and a service without TLS or without a port; never itself, frozen',
        ],
        ['unit/edges/system/connect', 'goes through the proxy'],
        ['unit/app/dependency-watch', 'is not named for one probe that comes to nothing late'],
      ],
    },
    {
      happens:
        'Its certificate is not trusted or has expired, it does not take ours, or the proxy to it gives no way through.',
      holds: ['service_down'],
      events: ['connection_failed', 'login'],
      does: 'Nothing is sent. Records wait, are in no letter, and go on within seconds of the mend, without a restart.',
      mend: '`npx fraud-connector check` says what is wrong and in which option; docs/security.md has the codes.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        [
          'process/service-tls',
          'a service that is no longer believed is a hold, and is called again when its new authority is trusted',
        ],
        [
          'process/service-tls',
          'a certificate that is asked for is shown, renewed without a restart, and the lack of one a hold',
        ],
        [
          'process/service-tls',
          'refused, then away, then cut off: payments wait, none is lost, none is scored twice but what was in flight',
        ],
      ],
    },
    {
      happens: 'It answers a part of its calls with 5xx, or slowly.',
      see: '`fraud_connector_waiting_records{cause="service_down"}` above 0, now and then; scores with `attempts` above 1',
      does: 'A record that failed waits for its own next attempt, 200 ms doubling to a minute; its key waits behind it, no other one. All others go on at nearly full rate, and nothing becomes a dead letter.',
      mend: 'Look at the service. Every failed attempt costs rate: compare the lag.',
      answers: ['lag_grows'],
      shown: [
        ['property/attribution', 'for %f of all requests with %i: all are delivered, at nearly full rate'],
        ['integration/broken-scores', 'that is slow for one payment in ten costs none of them'],
      ],
    },
    {
      happens: 'It asks to be left alone for a time: `Retry-After` with 429 or 503.',
      holds: ['service_down'],
      see: '`/status`: until when calls are kept back',
      does: 'With 429 all calls of the operation wait, 30 s at most; the record itself as long as it was told, 5 minutes at most. With 503 only the record waits. What cannot be read as seconds or a date counts as not given.',
      mend: 'If it happens often: `SERVICE_MAX_REQUESTS_PER_SECOND`, a smaller `SCORING_CONCURRENCY`, or [`SCORING_LIMIT=adaptive`](adaptive-limit.md), which goes on at a lower limit in place of the pause.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        ['integration/service-ill', 'when it asks to come again later with 429'],
        [
          'integration/broken-scores',
          '503 that says when to come again is believed, seconds or date; what cannot be read is not',
        ],
        ['unit/resilience/gate', 'keeps all calls back until then, and is on the report'],
      ],
    },
    {
      happens: 'It answers everybody with 403, 404, 405, a redirect, or the page of a proxy.',
      holds: ['service_refuses'],
      does: 'When the first attempts for 20 keys in a row have failed no call goes out, but for one probe after 2 s, 4 s and every 8 s. Redirects are never followed. No letter.',
      mend: 'Run `npx fraud-connector check`; see SERVICE_BASE_URL and the rights of the account. After the fix it goes on within 8 s.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        [
          'integration/systemic-faults',
          'by ways that are closed or lead elsewhere, or by the page of a proxy: no letter',
        ],
        ['integration/broken-scores', '%i leads nowhere: the redirect is not followed, the payment waits'],
        ['integration/broken-scores', '%i is no letter: the payment waits'],
        ['integration/broken-updates', '%i is no letter where it comes once'],
      ],
    },
    {
      happens: 'It refuses every payment with 400, 413 or 422.',
      holds: ['service_refuses', 'dead_letter_guard'],
      letters: ['status_<code>'],
      does: 'After about 20 dead letters the breaker opens: none follows, and one probe goes out after 2 s, 4 s and every 8 s. After a start none is written before a payment has been accepted.',
      mend: "Read `dlq.service_error` of the newest letters; look at what has changed at the producer, in the mapping, at the service. Send the letters' payments again.",
      answers: ['nothing_moves', 'all_letters'],
      shown: [
        ['integration/systemic-faults', 'by a refusal of every payment, from the start: no letter'],
        ['property/attribution', 'with %i: some 20 records end, then none'],
        ['property/attribution', 'from the start: none ends'],
      ],
    },
    {
      happens: 'It refuses many payments, and takes others.',
      holds: ['dead_letter_guard'],
      letters: ['status_<code>'],
      does: 'As many become dead letters as DEAD_LETTER_MAX_SHARE (5 %) permits; 40 may follow one another. Then none does for 5 minutes: what is refused meanwhile is tried again, and its key waits; all others go on.',
      mend: 'Read `dlq.service_error` of the newest letters; look at what has changed at the producer, in the mapping, at the service. Where the letters are meant: DEAD_LETTER_MAX_SHARE=1.',
      answers: ['all_letters', 'lag_grows'],
      shown: [
        [
          'property/attribution',
          'a third refused for 20 minutes: the guard keeps the dead letters few, and nobody waits for it',
        ],
        [
          'unit/resilience/gate',
          'blocks by name when its budget is spent, keeps no call back, and ends its block by itself',
        ],
      ],
    },
    {
      happens: 'It refuses every status update.',
      holds: ['service_refuses'],
      events: ['batch_split'],
      does: 'A batch is searched for culprits. A search that finds ten, and nothing that is accepted, opens the breaker: no letter, the updates wait, and one update is sent as a probe after 2 s, 4 s and every 8 s.',
      mend: 'Look at what has changed at the service, at the producer, in the mapping. What waits goes out within a second of the first probe that is accepted.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        ['integration/systemic-faults', 'by a refusal of every status update: no letter'],
        [
          'property/sync-attribution',
          '%s for a minute makes no dead letters, gets almost no requests, and everything within 10 s of its end',
        ],
      ],
    },
  ],
};

export const SESSION: WrongSection = {
  title: 'The session',
  rows: [
    {
      happens: 'The token expires in mid-traffic, or is revoked.',
      events: ['login'],
      does: 'One login for all who wait, one repeat of each request; nothing is scored twice by it.',
      mend: 'Nothing.',
      answers: [],
      shown: [
        ['integration/service-ill', 'when all tokens expire in mid-traffic, with one login for all'],
        ['integration/broken-updates', 'that says the token is over is one login, and the batch is sent again'],
        ['unit/edges/screening-api/client', 'of 500 requests at once leads to one login, and each is repeated once'],
      ],
    },
    {
      happens: 'User name and password are refused.',
      holds: ['credentials_refused'],
      events: ['login'],
      does: 'One login, then the next after 30 s, doubling to 15 minutes, so that no account is locked; at once when the file of the password changes.',
      mend: 'Give the right SERVICE_USERNAME and SERVICE_PASSWORD. With SERVICE_PASSWORD_FILE no restart is needed.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        [
          'integration/systemic-faults',
          'that is refused by user name and password is a hold, with one login, and no payment goes out',
        ],
        ['unit/edges/screening-api/session', 'is tried again at once when the password has changed'],
        [
          'process/rotation',
          'secrets change under a running connector: no webhook with a configured secret is refused, and scoring goes on',
        ],
      ],
    },
    {
      happens: 'Logins succeed, and their tokens are refused at once.',
      holds: ['service_refuses'],
      does: 'Two logins at once, then one each 10 s at most; each request is repeated once, never more.',
      mend: 'See whether login and scoring are behind the same base URL, and the rights of the account.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        [
          'integration/systemic-faults',
          'whose fresh tokens are refused is a hold, with two logins and one repeat of each request',
        ],
      ],
    },
    {
      happens: 'Somebody else logs in with the same user, and each login ends the other session.',
      holds: ['sessions_displace_each_other'],
      does: 'After three young tokens were refused within 10 minutes logins are 60 s apart.',
      mend: 'Give each program a user of its own.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        [
          'unit/edges/screening-api/session',
          'are named after three young tokens were refused, and logins are 60 s apart from then on',
        ],
      ],
    },
    {
      happens: 'The login is answered with 5xx, without a token, with HTML, or not at all.',
      holds: ['service_down', 'service_refuses'],
      events: ['login'],
      does: 'A token that still lives stays in use. Else it is tried again after 200 ms, doubling to 30 s; then all that waited goes out.',
      mend: 'Look at the service; `npx fraud-connector check` makes one login and says what came of it.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        [
          'integration/systemic-faults',
          'is asked for again through answers that hold no token, until there is one; then all that waited is done',
        ],
        ['unit/edges/screening-api/session', 'stays in use while the service refuses new ones, and lives on'],
      ],
    },
    {
      happens: 'The token tells nothing of its life, or that it is over.',
      does: 'It is used: an hour, or a minute; a 401 ends it sooner.',
      mend: 'Nothing. Where it says that it is over, one of the clocks is wrong.',
      answers: [],
      shown: [['integration/systemic-faults', 'whose token tells nothing of its life is used: %s']],
    },
  ],
};
