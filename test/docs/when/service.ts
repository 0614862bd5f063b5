import { type WrongSection } from './row.ts';

export const SERVICE: WrongSection = {
  title: 'The screening service as a whole',
  rows: [
    {
      happens: 'It does not answer in time, refuses or breaks connections, or answers 429 or 5xx to most calls.',
      holds: ['service_down'],
      events: ['fell_behind'],
      does: 'It stops calling when half of at least 20 calls in 10 s have failed; then one probe after 2 s, 4 s and every 8 s. Partitions stay, no letter is written, no score is lost. The first success lets all calls out again.',
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
          'property/ill-service',
          'answers nothing but 503 for five minutes is asked next to nothing, and at full rate within 10 s of its health',
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
      happens: 'It answers less than half of its calls with 5xx, or slowly.',
      see: '`fraud_connector_waiting_records{cause="service_down"}` above 0, now and then; scores with `attempts` above 1',
      does: 'A record that failed waits for its own next attempt, 200 ms doubling to 30 s; its key waits behind it, no other one.',
      mend: 'Look at the service. Every failed attempt costs rate: compare the lag.',
      answers: ['lag_grows'],
      shown: [
        ['property/ill-service', 'answers %d of its calls with 503 for a while: nothing is lost, nothing a letter'],
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
      does: 'After three in a row no call goes out for 60 s, then one probe. Redirects are never followed. No letter.',
      mend: 'Run `npx fraud-connector check`; see SERVICE_BASE_URL and the rights of the account. After mending it goes on within 60 s; a restart goes on at once.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        [
          'integration/systemic-faults',
          'by ways that are closed or lead elsewhere, or by the page of a proxy: no letter',
        ],
        ['integration/broken-scores', '%i leads nowhere: the redirect is not followed, the payment waits'],
        ['integration/broken-scores', '%i is no letter: the payment waits'],
        ['integration/broken-updates', '%i is no letter: the update waits'],
      ],
    },
    {
      happens: 'It refuses every payment with 400, 413 or 422.',
      holds: ['floodgate'],
      letters: ['status_400', 'status_413', 'status_422'],
      does: 'After ten refusals in a row (nine letters) it holds: one payment every 30 s, each of another key; the first that is accepted ends it.',
      mend: "Read `dlq.service_error` of the newest letters; look at what has changed at the producer, in the mapping, at the service. FLOODGATE_MAX_SHARE=1 turns the floodgate off. Send the letters' payments again.",
      answers: ['nothing_moves', 'all_letters'],
      shown: [
        [
          'integration/systemic-faults',
          'by a refusal of every payment: the floodgate holds before there are ten letters',
        ],
        ['property/ill-service', 'refuses everything with 400 gets a hold, not letters; its health ends it'],
      ],
    },
    {
      happens: 'It refuses every status update.',
      holds: ['service_refuses', 'floodgate'],
      events: ['batch_split'],
      does: 'A batch is searched for culprits; where all are refused alike the updates wait, and one batch every 30 s is tried. No letter; nine, if others were accepted within the last minute.',
      mend: 'Look at what has changed at the service, at the producer, in the mapping. What waits goes out with the first batch that is accepted.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        ['integration/systemic-faults', 'by a refusal of every status update: no letter'],
        [
          'unit/flows/sync/delivery',
          'keeps all others back while everything is refused alike, but for one in 30 s, until one is accepted',
        ],
        [
          'unit/flows/sync/delivery',
          'makes nine letters and no more of a service that refuses everything from one moment on',
        ],
        [
          'unit/flows/sync/delivery',
          'makes no letters of what a probe found before the service became well in the middle of it',
        ],
      ],
    },
  ],
};

export const ANSWERS: WrongSection = {
  title: 'Its answers to single records',
  rows: [
    {
      happens: 'One payment is refused with 400, 413 or 422.',
      letters: ['status_400', 'status_413', 'status_422'],
      see: 'a score with `decision` unknown and its `failure` (unless `SCORE_ON_REFUSAL=false`)',
      does: 'The record is a letter with the status and the words of the service; its key goes on.',
      mend: 'Read `dlq.service_error`; mend the data and send the payment again.',
      answers: ['all_letters'],
      shown: [
        ['integration/broken-scores', '%i is a letter with the words of the service, and a score that says it failed'],
        [
          'integration/scores',
          'a refused payment has a score without a decision that says why, and a letter; both are of the same place',
        ],
      ],
    },
    {
      happens: 'One payment is always answered with 500, or with 200 and an `error_msg`.',
      holds: ['service_down'],
      letters: ['status_500', 'error_msg'],
      does: 'Only its key waits. It is a letter after 8 attempts over 5 minutes in which others succeeded (`SCORING_MAX_ATTEMPTS`, `SCORING_REFUSE_AFTER_MS`); while others fail alike it waits on.',
      mend: 'Show the service the transaction; send it again when that is mended.',
      answers: ['all_letters', 'lag_grows'],
      shown: [
        [
          'property/ill-service',
          'always answers one transaction with 500 loses no other, and gets a letter of that one after five minutes',
        ],
        ['integration/broken-scores', 'with an error_msg and 200 is never a decision: it is asked for again'],
        [
          'unit/flows/scoring/flow',
          'is refused after enough answers over enough time, while others succeed, and says so',
        ],
      ],
    },
    {
      happens: 'An attempt ends without an answer that can be used: a reset, a time-out, half an answer, no JSON, 502.',
      see: 'a score with `attempts` above 1 and `possibly_scored_before`',
      does: 'It is asked for again; the service may have scored the payment twice, under one trans_id.',
      mend: 'Nothing. Readers take the newest score of a payment.',
      answers: ['twice'],
      shown: [
        [
          'integration/broken-scores',
          'that nobody can use is asked for again, and the score says that there may be two: %s',
        ],
        ['integration/broken-scores', 'that takes longer than the whole attempt may is given up: %s'],
        ['integration/broken-scores', 'that is reset %s is a score that may be the second'],
        ['integration/broken-scores', 'that %s costs no payment'],
        [
          'integration/service-ill',
          'when it resets connections after it has done its work: scores say that it may have scored before',
        ],
      ],
    },
    {
      happens: 'The repeat of such an attempt is refused with 400, 409 or 422.',
      letters: ['ambiguous_then_refused'],
      does: 'The payment may be scored, so its status updates go out all the same. Such letters do not count for the floodgate.',
      mend: 'Look the transaction up at the service before you send it again.',
      answers: ['all_letters', 'twice'],
      shown: [
        ['integration/broken-scores', '%i after an attempt without an answer says that the payment may be scored'],
      ],
    },
    {
      happens: 'An answer has an impossible decision or score, no id, or fields that nobody knows.',
      events: ['answer_unrecognised'],
      see: 'a score with `decision` unknown or without the value; what came is in `extra`',
      does: 'It is published without the impossible value, never as an approval.',
      mend: 'If the interface has changed: update the connector. Else show the service the transaction.',
      answers: [],
      shown: [
        ['integration/broken-scores', 'with an impossible value is published without it, never as an approval: %s'],
        [
          'integration/broken-scores',
          'with another frg_trans_id than the service keeps, and with fields nobody knows, is published as it came',
        ],
        ['integration/broken-scores', 'is taken by what its body is: %s'],
      ],
    },
    {
      happens: 'The service finds fault with datapoints of a payment.',
      see: 'a score with `validation_ok` false and `validation_errors`',
      does: 'The payment is scored; nothing waits.',
      mend: 'Mend the datapoints at the producer, or in the mapping.',
      answers: [],
      shown: [['integration/broken-scores', 'that finds fault with datapoints is a score with its remarks']],
    },
    {
      happens: 'One status update makes its batch be refused with 400, 413 or 422.',
      letters: ['status_400', 'status_413', 'status_422'],
      events: ['batch_split'],
      does: 'The batch is halved until the culprit stands alone; its mates are sent.',
      mend: 'Read `dlq.service_error`; mend the update and send it again.',
      answers: ['all_letters'],
      shown: [
        [
          'integration/bad-input',
          'an update the service refuses is a letter alone, and its neighbours in the batch are sent',
        ],
        ['integration/broken-updates', '%i of a batch is searched for its culprit, and its mates are sent'],
      ],
    },
    {
      happens: 'The answer to a batch refuses an update under its trans_id.',
      letters: ['rejected_by_service'],
      does: 'That update is a letter, all others of the batch are done.',
      mend: 'Read `dlq.service_error`; mend the update and send it again.',
      answers: ['all_letters'],
      shown: [
        ['integration/broken-updates', 'under the id of an update is its letter alone: %s'],
        [
          'integration/odd-ids',
          'are refused one by one where the answer refuses them so, and their neighbours are not',
        ],
      ],
    },
    {
      happens: 'A batch is too large for the service (413).',
      events: ['batch_split'],
      does: 'It is halved, the next ones are smaller, and grow again with success. No letter, unless one update alone is too large.',
      mend: 'If it happens often: a smaller `SYNC_BATCH_MAX_BYTES`.',
      answers: [],
      shown: [['integration/broken-updates', 'of a body as too large makes smaller ones, and no letter']],
    },
    {
      happens: 'A batch gets no answer, or 408, 429, 5xx, or 200 with an `error_msg`.',
      holds: ['service_down'],
      does: 'It is sent again; the service may see an update twice, with the same status and `ts`.',
      mend: 'Nothing.',
      answers: ['twice', 'lag_grows'],
      shown: [
        ['integration/broken-updates', 'that is none is asked for again: %s'],
        ['integration/broken-updates', 'that takes too long is given up, and the batch sent again: %s'],
        ['integration/broken-updates', 'that is a reset connection is sent again: %s'],
        ['integration/broken-updates', '%i is tried again'],
        ['integration/broken-updates', 'with an error_msg and 200 is no acceptance: it is sent again'],
      ],
    },
    {
      happens: 'A batch is answered with 2xx and a body that nobody has described.',
      events: ['answer_unrecognised'],
      does: 'It counts as accepted; nothing is sent twice.',
      mend: 'If it stays: ask the service what its answer means.',
      answers: [],
      shown: [
        ['integration/broken-updates', 'of success is one, whatever its body is: nothing is sent twice: %s'],
        ['unit/flows/sync/delivery', 'is counted where its answer has a shape that nobody described'],
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
