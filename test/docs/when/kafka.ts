import { type WrongSection } from './row.ts';

export const KAFKA: WrongSection = {
  title: 'Kafka',
  rows: [
    {
      happens: 'No broker can be reached, at the start or later.',
      holds: ['kafka'],
      events: ['source_failed'],
      does: 'It waits, joins again when they are back, and reads on from what is committed. Webhooks are answered 503 meanwhile.',
      mend: 'Look at the brokers and at KAFKA_BROKERS; `npx fraud-connector check` tries each of them.',
      answers: ['nothing_moves', 'lag_grows', 'no_start'],
      shown: [
        ['process/start', 'is waited for, named with its age, and never a reason to dead-letter'],
        [
          'process/refused',
          'a connector that every neighbour refuses lives, is not ready, asks each of them now and then, and ends when told',
        ],
        ['contract/three-nodes', 'goes on by itself after all brokers were away'],
        [
          'contract/source',
          'says that everything is lost when it breaks, comes back by itself and reads on from what is committed',
        ],
      ],
    },
    {
      happens: 'A broker that this process needs stops answering while nothing comes and nothing is written.',
      holds: ['kafka'],
      see: 'scope `probe` of the hold; `/readyz/scoring`, `/readyz/sync` and `/readyz/reviews` 503',
      does: 'It is named within 15 s: the leader of a partition that is read or written, or the coordinator of the group. Its end is named within 15 s as well. Nothing is given up because of a probe.',
      mend: 'Look at the brokers: `npx fraud-connector check` tries each of them.',
      answers: ['nothing_moves'],
      shown: [
        ['process/silent-dependencies', 'its only broker when that is frozen, and the end of it'],
        ['contract/cluster-probe', 'is answered while the one node that nothing depends on is frozen, each time'],
        ['contract/cluster-probe', 'names the silence of the one node that leads a topic, and its end'],
        [
          'contract/cluster-probe',
          'names the silence of the one node that coordinates the group, until another one does',
        ],
      ],
    },
    {
      happens: 'The brokers refuse the login or our certificate, or show one that is not to be trusted.',
      holds: ['kafka'],
      events: ['source_failed', 'secret_reloaded', 'secret_reload_failed', 'certificate_expiring'],
      see: '`SASL_AUTHENTICATION_FAILED` or a code of TLS at the end of `error`',
      does: 'It waits, and goes on by itself when the file or the broker has been mended. Nothing is lost, also when that happens in the middle of work.',
      mend: 'See docs/kafka-security.md for the code; `npx fraud-connector check` tries it.',
      answers: ['nothing_moves', 'lag_grows', 'no_start'],
      shown: [
        [
          'process/kafka-security',
          'a wrong password is a hold that names it, at the start and later, and the right one in the file ends it',
        ],
        [
          'process/kafka-security',
          'with a client certificate and the rights of the table it works; a new pair of files counts, a bad one does not, and nothing is lost',
        ],
        ['process/kafka-security', 'the doctor tells what is wrong with how the brokers are reached'],
      ],
    },
    {
      happens: 'A right on a topic or on the group is missing, or was taken away.',
      holds: ['kafka', 'dead_letter_topic'],
      events: ['source_failed', 'writer_retry'],
      see: '`missing ACL` in `error`, with what is missing',
      does: 'It waits, and goes on within 20 s of the right being granted.',
      mend: 'Grant what is named: docs/kafka-access.md has the rights of each command.',
      answers: ['nothing_moves', 'lag_grows', 'no_start'],
      shown: [['process/kafka-security', 'a missing right is a hold that names it, and the right ends it']],
    },
    {
      happens: 'A node dies: partitions change their leader, or the group its coordinator.',
      events: ['source_failed', 'commit_failed', 'writer_retry', 'partitions_assigned', 'kafka_log'],
      does: 'It finds the new one within seconds. Nothing is lost; what was not committed may be asked for twice.',
      mend: 'Nothing, if it is over within a minute.',
      answers: ['lag_grows', 'twice'],
      shown: [
        ['contract/three-nodes', 'loses and skips nothing while leaders move, and passes a barrier before each join'],
        ['contract/three-nodes', 'goes on when the node that coordinates its group is killed'],
        ['contract/three-nodes', 'goes on when the node that coordinates its group answers nothing'],
      ],
    },
    {
      happens:
        'The way to one broker swallows what is sent: packets are dropped, or a firewall has forgotten a connection.',
      holds: ['kafka'],
      events: ['commit_failed', 'writer_retry', 'source_failed'],
      does: 'A write that is not answered within 10 s, and a fetch within 30 s, end their connection, and the next one opens another. Without its coordinator the member lets no request out as soon as its session may be over.',
      mend: 'Look at what is between here and the broker: rules, idle timeouts, routes.',
      answers: ['nothing_moves', 'lag_grows', 'twice'],
      shown: [
        ['unit/edges/kafka/silence-repair', 'when a request has timed out and nothing has come since'],
        [
          'unit/edges/kafka/fence-feed',
          'is closed after the process was stopped, until a heartbeat sent afterwards is answered',
        ],
      ],
    },
    {
      happens: 'Commits fail.',
      holds: ['kafka'],
      events: ['commit_failed'],
      see: 'scope `commit` of the hold',
      does: 'Work goes on for 5 s or 2,000 records, then nothing new starts, so that a crash would repeat no more.',
      mend: 'Look at the coordinator of the group, and at the rights on the group.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        [
          'unit/engine/engine-commits',
          'nothing new starts once 2,000 records are finished and not committed, and it is said until one succeeds',
        ],
        [
          'unit/engine/engine-commits',
          'work goes on for five seconds when little is finished, then nothing new starts',
        ],
      ],
    },
    {
      happens: 'A topic that is read is deleted, or made anew.',
      holds: ['kafka'],
      events: ['offset_gap'],
      does: 'It waits for the topic; one that is made again is read from its start.',
      mend: 'Run `npx fraud-connector topics check`, then `npx fraud-connector topics create`.',
      answers: ['nothing_moves'],
      shown: [
        [
          'contract/source-faults',
          'holds while its topic is gone, and reads the one that is made again from its start',
        ],
        ['contract/source-faults', 'begins by itself when a missing topic is created'],
      ],
    },
    {
      happens: 'A score cannot be written.',
      holds: ['kafka'],
      events: ['writer_retry'],
      does: 'The offset stays; the score is written when Kafka takes it, and the service is never asked again for it. No more than 2 × SCORING_CONCURRENCY payments are open.',
      mend: 'Look at TOPIC_SCORES: does it exist, are enough replicas in sync, may we write?',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        [
          'integration/scores',
          'while Kafka does not take a score its offset stays; then the publication is repeated, never the request',
        ],
      ],
    },
    {
      happens: 'A letter cannot be written.',
      holds: ['dead_letter_topic'],
      does: 'Its record waits, and its key; the others go on at full rate. The offset does not pass it, also over a kill. A partition of which too many wait is not read (`dead_letters` under `pauses` on `/status`), until they are written.',
      mend: 'Create the dead-letter topic (`npx fraud-connector topics create`), give the right to write, or look at its brokers.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        ['integration/letters', 'because its topic is not there, in the same process'],
        ['integration/letters', 'because its topic takes nothing of its size, not even the pointer'],
        [
          'unit/engine/engine-dead-letters',
          'at 500 records/s, 2 % of them unreadable, a dead-letter topic that fails takes nothing from the rate of the others',
        ],
        ['process/letters', 'a letter that cannot be written holds its record, also over a kill -9, and no other'],
      ],
    },
    {
      happens: 'A letter is too large for its topic.',
      events: ['letter_withheld'],
      does: 'It is written as a pointer: the place of the record, without the data.',
      mend: 'Raise `max.message.bytes` of the dead-letter topic; find the record at `dlq.source.offset`.',
      answers: ['all_letters'],
      shown: [
        [
          'integration/card-guard',
          'a letter too large for its topic becomes a pointer, and the payment behind it is scored',
        ],
      ],
    },
    {
      happens: 'A producer writes payments in transactions: one was aborted, or stays open.',
      see: '`lag` that does not shrink, without a hold',
      does: 'What was aborted is never sent. What lies behind an open transaction, of whomever, may not be read before that has ended: it is lag, and status updates whose payment may be in it wait.',
      mend: 'Nothing, if it is over within the `transaction.timeout.ms` of the producer. Else Kafka itself has lost its end: `kafka-transactions.sh find-hanging`, then `abort`.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        [
          'integration/transactions',
          'what was aborted is never sent, what was committed is, and neither is a reason to wait',
        ],
        [
          'integration/transactions',
          'what lies behind an open one waits, is lag, and no status goes out before its payment',
        ],
      ],
    },
    {
      happens: 'A batch has been damaged since it was written, or is packed in a codec that nobody knows.',
      events: ['source_failed'],
      see: '`a batch that does not unpack` in `error`, again and again',
      does: 'Nothing is passed over: the partition stands, and with it the others of this process. gzip, snappy, lz4 and zstd are read.',
      mend: 'Look at the batch with `kafka-dump-log.sh`, on each replica: another leader may have it whole. If all are damaged: delete the records up to its end (`kafka-delete-records.sh`); reading goes on behind them as after an expiry.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        ['unit/edges/kafka/fetched-partition', 'and %s, and has changed on its way, is fetched again'],
        ['unit/edges/kafka/fetched-partition', 'only to this version, for its codec is unknown, is fetched again'],
        ['integration/odd-records', 'comes in a batch that is packed with %s'],
      ],
    },
    {
      happens: 'The brokers slow this client down by a quota.',
      see: 'lag, without a hold',
      does: 'It reads and writes as much as it may. What waits is bounded as ever; the membership stays.',
      mend: 'Raise `consumer_byte_rate` and `producer_byte_rate` of KAFKA_CLIENT_ID, or of the user. A pause that the brokers make must stay well below KAFKA_SESSION_TIMEOUT_MS: keep the default of 30 s.',
      answers: ['lag_grows'],
      shown: [
        [
          'long/strained',
          'make it slow, and nothing else: no failed membership, no letter, none lost, doubled or out of order',
        ],
      ],
    },
    {
      happens: 'Members join and leave the group without a pause: a process that starts and crashes again and again.',
      events: ['partitions_assigned'],
      does: 'Each join costs the group a moment. What can be done between two of them is done, and nothing is repeated by it.',
      mend: 'Find out which process it is (`kafka-consumer-groups.sh --members`), and why it does not stay.',
      answers: ['lag_grows'],
      shown: [
        [
          'long/strained',
          'keeps nobody from working: payments are scored all the time, none is lost, doubled or out of order',
        ],
      ],
    },
    {
      happens: 'Records expired before they were read, or the end of a log was cut off.',
      holds: ['offset_gap'],
      events: ['offset_gap'],
      does: 'Reading of that partition goes on at the oldest record; what was read before is delivered from memory, the other partitions notice nothing, and what nobody had read is reported with its count. With KAFKA_OFFSET_GAP=stop the partition is not read any further; what is in memory goes on.',
      mend: 'Data is lost: find out from the event which offsets, and have those payments sent again. Keep topics longer than your longest outage.',
      answers: ['nothing_moves'],
      shown: [
        ['unit/engine/engine-commits', 'reading goes on from the oldest record, and what is missing is said'],
        [
          'integration/expired-records',
          'records in memory are delivered after their log has lost them, what nobody read is counted, and the other partition goes on',
        ],
        [
          'unit/engine/gaps',
          'with KAFKA_OFFSET_GAP=stop that partition holds, what is in memory goes on, and no commit passes the gap',
        ],
        ['unit/engine/engine-commits', 'the partition holds if it was told to, by name, and the others go on'],
        ['contract/source-faults', 'tells a committed offset that the log has lost, and reads on from its start'],
      ],
    },
    {
      happens: 'The group is new, and the topic holds records older than an hour.',
      holds: ['start_position'],
      does: 'It waits for a person, and says how many records would be sent.',
      mend: 'Set KAFKA_START_FROM to `earliest`, `latest` or a time, and start again. Is KAFKA_GROUP_ID the one you meant?',
      answers: ['nothing_moves', 'no_start'],
      shown: [
        [
          'unit/app/start-from',
          'holds on a topic with old records, says how many would be sent, and goes on when another process has begun',
        ],
      ],
    },
    {
      happens: 'Work does not end before a rebalance, or a member is thrown out of its group.',
      events: ['barrier_incomplete', 'source_failed'],
      does: 'It joins again; what it had begun is thrown away and repeated by whoever owns the partition. None of its commits counts meanwhile.',
      mend: 'If it happens often: answers take longer than a third of KAFKA_SESSION_TIMEOUT_MS, or the process gets too little CPU.',
      answers: ['twice'],
      shown: [
        ['unit/engine/engine-rebalance', 'gives up waiting for what runs after a third of the session'],
        [
          'contract/source-faults',
          'comes back by itself when it is thrown out of its group, and none of its commits is taken meanwhile',
        ],
      ],
    },
    {
      happens:
        'The map of finished offsets beside a committed offset cannot be used: other software or a mirror wrote it.',
      events: ['offset_map_ignored'],
      does: 'What lies behind the committed offset is done again.',
      mend: 'Nothing, after a move to another cluster. Else: who commits for this group?',
      answers: ['twice'],
      shown: [
        ['unit/engine/engine-commits', 'is not believed in another cluster: what it covers is done again, and said'],
        ['unit/engine/engine-commits', 'of other software is passed over'],
      ],
    },
    {
      happens: 'The group has members of other topics.',
      holds: ['kafka'],
      does: 'It does not join, and does not disturb them.',
      mend: 'Give each program a KAFKA_GROUP_ID of its own.',
      answers: ['nothing_moves', 'no_start'],
      shown: [['contract/source-faults', 'says why it holds in a group of other topics, and does not disturb it']],
    },
  ],
};

export const ORDER: WrongSection = {
  title: 'Status updates and their payments',
  rows: [
    {
      happens: 'Status updates wait for their payments to be scored.',
      holds: ['not_scored_yet', 'batch_open'],
      does: 'An update goes out when its payment was scored here, or none of its key from before it is left. No clock shortens that.',
      mend: 'Nothing: look at what holds scoring.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        ['unit/flows/sync/alignment', 'however long, while its transaction may still come'],
        ['unit/flows/sync/alignment', 'while a created record of its key is held'],
      ],
    },
    {
      happens: 'The two topics have different numbers of partitions, or different keys.',
      events: ['partition_counts_differ', 'not_co_partitioned'],
      see: '`fraud_connector_updates_before_score_total` grows',
      does: 'An update of an unknown payment waits SYNC_SCORE_WAIT_MS and goes out: the service may be unable to link it. The time stands still while scoring is held.',
      mend: 'Give both topics the same number of partitions and the same keys ([topics.md](topics.md)).',
      answers: ['lag_grows'],
      shown: [
        [
          'integration/alignment',
          'by their numbers of partitions: said at the start, an unknown update waits its time, and not while scoring is held',
        ],
        [
          'integration/alignment',
          'by their keys: said at the first pair that shows it; from then on an unknown update waits its time',
        ],
      ],
    },
  ],
};
