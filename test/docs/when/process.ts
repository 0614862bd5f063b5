import { type WrongSection } from './row.ts';

export const WEBHOOKS: WrongSection = {
  title: 'Webhooks',
  rows: [
    {
      happens: 'A webhook is answered 401.',
      events: ['webhooks_failed'],
      see: '`reviews.refused` on `/status`, and `fraud_connector_webhook_requests_total`, label `result`: `bad_signature`, `bad_timestamp`, `outside_window`',
      does: 'Nothing is published. The answer does not say which check failed.',
      mend: '`bad_signature`: is the secret of the web account the first line of WEBHOOK_SECRETS, and does the proxy pass the body on byte for byte? `bad_timestamp`: does it pass both headers on, once each? `outside_window`: set the clocks right, see `fraud_connector_webhook_skew_seconds`.',
      answers: ['webhook_refused'],
      shown: [
        ['integration/webhooks', '%s: %i'],
        ['integration/webhooks', 'of all webhooks with a defect nothing was published'],
        [
          'integration/webhooks',
          'that are not taken are on the status by their reasons, and in one line of the log for each',
        ],
        ['unit/reviews/verify', 'and tells nobody about the window who does not know the secret'],
      ],
    },
    {
      happens: 'A webhook is answered 400, 404, 405, 408, 413 or 415.',
      events: ['webhooks_failed'],
      see: '`result`: `malformed`, `not_an_object`, `bad_path`, `bad_method`, `too_slow`, `too_large`, `bad_type`',
      does: 'Nothing is published.',
      mend: 'Compare the URL at the service with WEBHOOK_PATH; see what the proxy makes of the request; WEBHOOK_MAX_BYTES.',
      answers: ['webhook_refused'],
      shown: [
        ['integration/webhooks', '%s: %i'],
        ['integration/webhooks', 'malformed HTTP: 400; a body that does not come: 408'],
      ],
    },
    {
      happens: 'A webhook is answered 503.',
      see: '`result`: `unavailable`',
      events: ['webhooks_failed', 'writer_retry'],
      does: 'Kafka has not acknowledged it in time, the registry was never reached, or it was cut off half sent because newer ones needed the room. The sender comes again for about 4.5 days: nothing is lost.',
      mend: 'Look at Kafka, at TOPIC_REVIEWS and its replicas in sync, at the registry. Without any of these: somebody opens many slow connections; keep them out in front of the port.',
      answers: ['webhook_refused'],
      shown: [
        ['integration/webhooks', 'is answered 503 with Retry-After while Kafka is away'],
        ['process/slow-senders', 'webhooks come through while slow senders hold on to every connection there is'],
        [
          'unit/edges/http-server/webhooks',
          'says 503 with Retry-After while the writer is unavailable, and 200 when it is back',
        ],
        ['unit/reviews/bridge', 'as long as the id of the schema is not known, which is nobody’s defect'],
      ],
    },
    {
      happens: 'A webhook does not arrive at all: TLS comes to nothing.',
      events: ['webhook_tls_failed'],
      does: 'The connection is closed and counted.',
      mend: '`certificate_refused`: send the whole chain in WEBHOOK_TLS_CERT_FILE, from an authority that the sender trusts. `plain_http`: the URL at the service begins with http. Nothing counted: the port is not reached.',
      answers: ['webhook_refused'],
      shown: [
        ['unit/edges/http-server/webhooks-tls', 'with plain HTTP'],
        ['unit/edges/http-server/webhooks-tls', 'with TLS 1.1'],
      ],
    },
    {
      happens: 'A webhook is authentic, and of a type, a decision or a shape that is not known.',
      letters: ['webhook_unrecognised'],
      does: 'It is in the dead-letter topic of TOPIC_REVIEWS with what it was signed with; the answer is 200.',
      mend: 'Update the connector.',
      answers: ['all_letters'],
      shown: [
        ['integration/webhooks', 'with an unknown decision is parked with what it was signed with, and answered 200'],
      ],
    },
    {
      happens: 'The same event comes again.',
      see: '`result`: `duplicate`',
      does: 'It is answered 200, and published once; after a restart perhaps twice, with the same `event_id`.',
      mend: 'Nothing. Readers drop what they have seen by `event_id`.',
      answers: ['twice'],
      shown: [['integration/webhooks', 'that comes again, signed anew, is answered 200 and published once']],
    },
  ],
};

export const PROCESS: WrongSection = {
  title: 'Start, stop and the process',
  rows: [
    {
      happens: 'Options are missing or wrong; a mapping or a pair of certificate and key has defects.',
      faults: ['CONFIG_INVALID'],
      does: 'The process ends with exit code 2 before it has opened anything, and names every problem, no secret.',
      mend: 'Mend each line it prints. `npx fraud-connector config print` shows where each value comes from.',
      answers: ['no_start'],
      shown: [
        ['process/start', 'ends the start with exit 2, every problem at once, and no value of a secret'],
        ['integration/mapping', 'a mapping with problems ends the start with all of them, exit code 2'],
        [
          'process/webhook-tls',
          'a pair that is no good is said at the start, by the names of its options, and nothing is opened',
        ],
      ],
    },
    {
      happens: 'A topic does not exist.',
      faults: ['TOPIC_MISSING'],
      does: 'The process ends with exit code 2 and names it.',
      mend: 'Run `npx fraud-connector topics create`.',
      answers: ['no_start'],
      shown: [['process/start', 'ends the start with exit 2 and the name of the missing topic']],
    },
    {
      happens: 'A port is taken.',
      faults: ['PORT_TAKEN'],
      does: 'The process ends with exit code 2 and names the option.',
      mend: 'Another WEBHOOK_PORT or OPS_PORT; or does a connector run here already?',
      answers: ['no_start'],
      shown: [['process/start', 'ends the start with exit 2 and the name of the option: %s']],
    },
    {
      happens: 'Kafka, the registry or the service is away at the start.',
      holds: ['kafka', 'registry', 'service_down'],
      does: 'The process runs and waits, `/livez` 200, `/readyz` 503; it begins when they are there. A restart helps nothing.',
      mend: 'Run `npx fraud-connector check`.',
      answers: ['no_start', 'nothing_moves'],
      shown: [
        ['process/start', 'is waited for, named with its age, and never a reason to dead-letter'],
        ['integration/doctor', 'each neighbour that is away is told, the others all the same, within seconds'],
      ],
    },
    {
      happens: 'The process is killed (kill -9, out of memory, power).',
      does: 'The next owner of its partitions goes on. At most what was in flight, and what had ended since the last commit (250 ms), is asked for again.',
      mend: 'Nothing. Readers take the newest score of a payment that has no `failure`, and drop reviews by `event_id`.',
      answers: ['twice'],
      shown: [
        [
          'process/restart',
          'by kill -9: after the next start nothing is lost or out of order, and only what was open is doubled',
        ],
      ],
    },
    {
      happens: 'Not everything in flight ends in time at a stop.',
      faults: ['DRAIN_INCOMPLETE'],
      does: 'Exit code 1; it is repeated at the next start.',
      mend: 'Raise DRAIN_TIMEOUT_MS, and what the platform gives before SIGKILL (40 s).',
      answers: ['twice'],
      shown: [
        [
          'unit/engine/engine-rebalance',
          'leaves in time although something hangs, says how much, and commits nothing of it',
        ],
        ['process/restart', 'by SIGTERM: exits 0, and after the next start nothing is lost, doubled or out of order'],
        ['process/restart', 'by a second SIGTERM: exits 1 at once, whatever is in flight'],
      ],
    },
    {
      happens: 'The process or its machine stands still for longer than a session, and goes on.',
      events: ['source_failed'],
      does: 'It lets no further request out until the group has answered; others own its partitions then.',
      mend: 'Look at CPU limits, memory and swap.',
      answers: ['twice', 'lag_grows'],
      shown: [
        [
          'unit/edges/kafka/fence-feed',
          'is closed after the process was stopped, until a heartbeat sent afterwards is answered',
        ],
      ],
    },
    {
      happens: 'The consumer reads nothing although there is something to read.',
      events: ['source_failed'],
      does: 'After 120 s the membership is ended and made anew.',
      mend: 'Report it. `/livez` stays 200: this is what a restart would do.',
      answers: ['nothing_moves'],
      shown: [
        ['unit/edges/kafka/watchdog', 'ends a membership that does not fetch what a partition holds'],
        ['unit/edges/kafka/watchdog', 'ends a membership whose heartbeats have not been answered for 120 s'],
      ],
    },
    {
      happens:
        'The file of a secret or of a certificate changes to something that is no good; a certificate is about to expire.',
      events: ['secret_reload_failed', 'certificate_expiring'],
      does: 'The last good one stays in use.',
      mend: 'Write the right one into the file; it is in use within 4 s, without a restart.',
      answers: ['webhook_refused'],
      shown: [
        ['unit/app/secrets', 'what breaks the rule of an option changes nothing and is told by the name of the option'],
        [
          'process/rotation',
          'secrets change under a running connector: no webhook with a configured secret is refused, and scoring goes on',
        ],
        [
          'process/webhook-tls',
          'certificates change under a running connector, a bad one changes nothing, and no webhook is refused meanwhile',
        ],
      ],
    },
    {
      happens: 'The collector of traces is away, slow or refuses.',
      events: ['spans_dropped'],
      does: 'Spans are dropped and counted. Nothing else is affected, nor is the end held up.',
      mend: 'Look at the collector. `queue_full` alone: tell of fewer traces, or raise OTEL_BSP_MAX_QUEUE_SIZE (tracing.md).',
      answers: [],
      shown: [
        [
          'process/tracing',
          'a collector that dies costs its spans, which are counted, and nothing else; nor does it hold up the end',
        ],
      ],
    },
    {
      happens: 'The name of a neighbour leads nowhere, or to another address than before.',
      holds: ['kafka', 'service_down', 'registry'],
      events: ['source_failed', 'connection_failed'],
      see: '`ENOTFOUND` in `error`',
      does: 'It waits, and asks for the address anew at each connection that it opens. Connections that work stay where they are.',
      mend: 'Look at the name server. To move a neighbour, end its connections at the old address.',
      answers: ['nothing_moves', 'no_start'],
      shown: [
        [
          'process/names',
          'that lead nowhere are waited for; one that leads elsewhere is followed, to an address of the newer kind, too',
        ],
      ],
    },
    {
      happens: 'It has little memory, and a long lag.',
      does: 'What is in memory does not grow with the lag: no more than BUFFER_MAX_BYTES and BUFFER_MAX_RECORDS a flow. A heap of 64 MB is enough for work at full rate.',
      mend: 'Nothing. If it ends by itself for want of memory, report it.',
      answers: ['lag_grows'],
      shown: [['long/strained', 'memory: a long lag does not fill it, while newer payments come as well']],
    },
    {
      happens: 'It may open no more files.',
      holds: ['service_down', 'kafka'],
      events: ['connection_failed'],
      see: '`EMFILE` in `error`; `/livez` is not answered',
      does: 'Connections that are open go on; others are tried again. Nothing is lost.',
      mend: 'Raise the limit of open files: `ulimit -n 4096`.',
      answers: ['nothing_moves'],
      shown: [['long/strained', 'open files: connections that cannot be opened are waited for, and nothing is lost']],
    },
    {
      happens: 'The clock of its machine is more than an hour ahead.',
      holds: ['kafka'],
      events: ['writer_retry'],
      see: '`error` speaks of a timestamp; webhooks are answered 401',
      does: 'Kafka takes nothing that is written with such a time: it waits until the clock is right. Whatever waits or is limited in time goes by another clock, which nobody sets; so do heartbeats, when it is set back.',
      mend: 'Set the clock right; no restart is needed.',
      answers: ['nothing_moves', 'webhook_refused'],
      shown: [
        [
          'contract/writer-clock',
          'a clock that is hours ahead is no fault of a record: it waits, and is written when the clock is right',
        ],
        ['unit/edges/kafka/heart', 'beats on when the wall clock is set back'],
      ],
    },
    {
      happens: 'Its machine is suspended and wakes up, or its clock is set forward.',
      holds: ['kafka'],
      does: 'It lets no request out before the group has confirmed that it is still a member: a few seconds at most. If the group has given its partitions away meanwhile, it joins again.',
      mend: 'Nothing. Do not run it on machines that sleep.',
      answers: ['nothing_moves'],
      shown: [
        [
          'unit/edges/kafka/fence-feed',
          'is closed after the machine was suspended, for its clock stood still: only a sync sent afterwards opens it',
        ],
        [
          'unit/edges/kafka/fence-feed',
          'costs one confirmation where the wall clock is set forward, and nothing where it is set back or a little forward',
        ],
      ],
    },
    {
      happens: 'Many ask for metrics and status at once, without a pause.',
      does: 'Each is answered, 128 connections at most; the work goes on beside it.',
      mend: 'Ask less often: once in 15 s is what the alerts are made for. Keep OPS_PORT inside.',
      answers: [],
      shown: [
        [
          'process/scrapes',
          'payments are scored and linked as ever while forty clients ask for metrics and status without a pause',
        ],
      ],
    },
    {
      happens: 'Nobody reads what it prints any more: the pipe of its output is closed.',
      see: 'exit code 1, and no line that says why',
      does: 'The process ends at the next line it prints; whoever starts it again loses nothing.',
      mend: 'Look at what collects its output, and start it again.',
      answers: ['no_start'],
      shown: [['process/broken-pipe', 'ends with exit code 1 when nobody reads what it prints any more']],
    },
    {
      happens: 'What reads its output stands still: the pipe is full.',
      does: 'It works on. Lines wait in memory, 8 MiB of them; what comes then is not printed at all.',
      mend: 'Look at what collects its output.',
      answers: [],
      shown: [
        [
          'process/broken-pipe',
          'works on while the pipe of its output is full, and what it had to say comes when somebody reads again',
        ],
        ['unit/edges/system/terminal', 'lines that nobody reads wait up to 8 MiB, and come when somebody does'],
      ],
    },
    {
      happens: 'Something happens that the code excludes.',
      faults: ['INTERNAL'],
      events: ['fatal'],
      does: 'The process ends with exit code 1; whoever starts it again loses nothing.',
      mend: 'Report it, with the message.',
      answers: ['no_start'],
      shown: [
        ['unit/telemetry/health', 'a fault ends it for good'],
        [
          'process/uncaught',
          'ends at once with exit code 1, tells its kind and not its text, also where a promise is rejected that nobody waits for',
        ],
        ['process/uncaught', 'in mid-traffic, ends as after a kill: nothing is lost or out of order'],
      ],
    },
  ],
};
