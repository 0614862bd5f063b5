import { type WrongSection } from './row.ts';

export const RECORDS: WrongSection = {
  title: 'Records that cannot be read or sent',
  rows: [
    {
      happens: 'A value is no JSON object and no framed Avro, or has no trans_id.',
      letters: ['bad_framing', 'undecodable', 'not_an_object', 'trans_id_missing'],
      does: 'The record is a letter, byte for byte, with its headers; no call is made; what is behind it goes on.',
      mend: 'Mend the producer, and send the payment again.',
      answers: ['all_letters'],
      shown: [
        ['integration/bad-input', '$is is a letter, and the payment behind it is scored'],
        ['integration/bad-input', '$is is a letter, and the update behind it is sent'],
        [
          'integration/bad-input',
          'no record is lost, doubled or out of order in all of this, and each bad one is one letter',
        ],
      ],
    },
    {
      happens:
        'Avro is cut off, has bytes behind its end, text that is no UTF-8, a count of items that cannot be, or a number that JavaScript has not.',
      letters: ['undecodable'],
      see: '`dlq.detail`: `bytes` or `number`',
      does: 'The record is a letter, byte for byte. A few bytes that promise millions of items, or a schema whose records have two of the next without a byte, cost next to nothing: no more than 65,536 items and fields that take no bytes are believed.',
      mend: "Mend the producer's serializer; send the payment again.",
      answers: ['all_letters'],
      shown: [
        ['integration/avro', '$is is a letter, and the payment behind it is scored'],
        ['integration/bad-input', 'cut off is a letter, and what is behind it goes on: %s'],
        [
          'unit/edges/schema-registry/shape',
          'does not walk through a billion records without a byte, or through all the nulls of a wide one',
        ],
      ],
    },
    {
      happens: "The producer's schema cannot be read with this connector's.",
      letters: ['schema_incompatible'],
      see: '`dlq.detail`: the id of the schema, and why',
      does: 'Every record of that schema is a letter; beyond a share the dead-letter guard blocks them.',
      mend: 'Give the fields compatible types ([schemas.md](schemas.md)). Fields that nobody knows are no defect.',
      answers: ['all_letters'],
      shown: [
        ['integration/avro', '$is is a letter, and the payment behind it is scored'],
        ['integration/avro', 'with fields that nobody knows is read by those that are known, whatever is in them'],
      ],
    },
    {
      happens:
        'A record is larger than RECORD_MAX_BYTES, a compressed batch unpacks to more than BATCH_MAX_BYTES, or a score cannot be made small enough for Kafka.',
      letters: ['record_too_large'],
      events: ['score_trimmed', 'letter_withheld'],
      does: 'A letter, as a pointer: the record is never held in memory, and the others of its batch are delivered. Of a batch that unpacks to too much every offset is such a letter. A score that is too large goes without `extra`, then without signals, before that.',
      mend: 'Send less, or raise RECORD_MAX_BYTES, BATCH_MAX_BYTES and `max.message.bytes` of the topics; then redrive.',
      answers: ['all_letters'],
      shown: [
        [
          'integration/bad-input',
          'a record over RECORD_MAX_BYTES is a letter that says where it is, and what is behind it goes on: %s',
        ],
        ['integration/large-batches', 'are pointers one by one, the others of their batch are scored: %s'],
        ['integration/large-batches', 'are pointers with all of a batch that comes to too much: %s, %i MiB'],
        ['integration/large-batches', 'take little memory, also in a row, and the membership stays'],
        [
          'integration/scores',
          'a score too large for its topic goes without what is furthest from the decision, and is counted',
        ],
      ],
    },
    {
      happens: 'A record has ten thousand headers, headers named like what every object has, no key, or no time.',
      does: 'It is processed as any other. Its letter, if it becomes one, has all of that. Without a key the transaction decides what waits for what.',
      mend: 'Nothing.',
      answers: [],
      shown: [
        ['integration/odd-records', 'has ten thousand headers'],
        ['integration/odd-records', 'has no key'],
        ['integration/odd-records', 'has a timestamp %s'],
        ['integration/odd-records', 'though it has ten thousand headers'],
        ['integration/odd-records', 'though its key has a megabyte'],
        ['integration/odd-records', 'though its headers have more than a record may: it says where that is'],
        ['integration/odd-records', 'though it has ten megabytes, which is more than one fetch brings'],
        ['integration/odd-records', 'though its headers are named like what every object has'],
      ],
    },
    {
      happens: 'A value is null.',
      skips: ['tombstone'],
      does: 'It is passed over and counted.',
      mend: 'Nothing.',
      answers: [],
      shown: [['integration/bad-input', 'null is skipped and counted, and the payment behind it is scored']],
    },
    {
      happens: 'The mapping cannot make a datapoint of a value, or says that a record is not ours.',
      letters: ['mapping_refused'],
      skips: ['skip_when'],
      does: 'A letter that names the datapoint; or the record is passed over and counted.',
      mend: 'Give the record to `npx fraud-connector explain --flow scoring`; mend the value or the mapping.',
      answers: ['all_letters'],
      shown: [
        [
          'integration/mapping',
          'a value that the mapping cannot handle is a letter with the name of the datapoint, and the record as it came',
        ],
        ['integration/mapping', 'a record that skip_when names is passed over and counted'],
      ],
    },
    {
      happens: 'A record holds a card number, a verification value or track data.',
      letters: ['card_data'],
      events: ['letter_withheld'],
      does: 'Nothing goes to the service; the letter is a pointer without key, value and headers. Its status updates become letters, too.',
      mend: 'Stop the producer; [card-guard.md](card-guard.md) says what else to do, now.',
      answers: ['all_letters'],
      shown: [
        ['integration/card-guard', 'in Avro is a pointer, and the payment behind it is scored'],
        [
          'integration/card-guard',
          'card data in the free text of a status update is a pointer, and the update behind it is sent',
        ],
        ['integration/alignment', 'an update of a payment with card data becomes a letter, not an update of nothing'],
      ],
    },
    {
      happens: 'A status update has no known status, no `ts` with a zone, or lacks what its status needs.',
      letters: ['status_unknown', 'ts_invalid', 'decline_reason_missing', 'acq_ref_id_missing'],
      does: 'A letter, without a call. The rules: [sync-rules.md](sync-rules.md).',
      mend: 'Mend the producer, and send the update again.',
      answers: ['all_letters'],
      shown: [
        ['integration/bad-input', '$is is a letter, and the update behind it is sent'],
        ['unit/flows/sync/flow', 'because its score tells a card and it has no acq_ref_id, is not sent'],
      ],
    },
    {
      happens: 'A status update is of a payment that was refused here.',
      letters: ['transaction_not_scored'],
      does: 'A letter: the service has nothing to link it to.',
      mend: "Send the payment's letter again first, then this.",
      answers: ['all_letters'],
      shown: [
        ['unit/flows/sync/flow', 'because its transaction was refused, is not sent'],
        [
          'unit/flows/sync/alignment',
          'when its transaction was refused here, to be refused itself, unless a mended one may be behind that',
        ],
      ],
    },
    {
      happens: 'Ids are odd: `__proto__`, digits, emoji, hundreds of characters, half a surrogate pair.',
      does: 'They are scored and linked under the very same text.',
      mend: 'Nothing.',
      answers: [],
      shown: [['integration/odd-ids', 'are scored and linked under the very same text, in one PATCH']],
    },
    {
      happens: 'Many records cannot be read or sent, whatever the reason.',
      holds: ['dead_letter_guard'],
      does: '40 dead letters may follow one another (20 after a start); every record that ends well earns a part of another, so that in the long run DEAD_LETTER_MAX_SHARE (5 %) of all records may. Beyond that no further one is written for 5 minutes. A record that cannot be read waits with its key; other records go on.',
      mend: 'Read the newest letters; fix the producer. Where the letters are meant: DEAD_LETTER_MAX_SHARE=1.',
      answers: ['all_letters', 'lag_grows'],
      shown: [
        ['unit/resilience/dead-letter-guard', 'permits 20 dead letters after a start, and blocks with the next'],
        ['unit/resilience/dead-letter-guard', 'permits nothing, not even what is free, for 5 minutes'],
        ['unit/resilience/gate', 'is spent by records that need no answer, too'],
        ['unit/dead-letters/guarded', 'writes nothing while the guard of the flow blocks, and says why'],
      ],
    },
    {
      happens: 'The connector itself fails on a record.',
      holds: ['flow_broken'],
      letters: ['connector_fault'],
      events: ['flow_broken'],
      does: 'The record waits; a letter after 8 attempts while others succeed.',
      mend: 'Report it, with the log line. To go on at once: name the position in `DEAD_LETTER_OFFSETS`.',
      answers: ['nothing_moves', 'all_letters'],
      shown: [
        [
          'unit/engine/engine',
          'a flow that throws loses nothing: the record waits, and becomes a letter only if others succeed',
        ],
      ],
    },
    {
      happens: 'A record does not end for so long that very much has been read, or has ended, behind it.',
      holds: ['span_full', 'map_full'],
      events: ['span_full'],
      see: '`pauses` of its partition on `/status`; its position in the event `span_full`',
      does: 'Its partition is not read further, the others are. Nothing is lost, memory does not grow; reading goes on when the record has ended.',
      mend: 'Look at what it waits for, or name its position in `DEAD_LETTER_OFFSETS` and start again.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        ['unit/engine/pauses', 'a full span has a name within 15 s, and the position of the record'],
        ['unit/engine/pauses', 'what a restart passes over counts: behind the same record it reads no further'],
        [
          'unit/engine/engine-commits',
          'bounds what a crash would repeat: reading pauses, says why, and goes on when the record has ended',
        ],
        ['unit/engine/tracker', 'millions that have settled behind a record that has not take no room'],
      ],
    },
    {
      happens: 'One record keeps its partition or its key, and it must go on now.',
      letters: ['parked_by_operator'],
      see: '`fraud_connector_oldest_uncommitted_age_seconds` of one partition grows',
      does: 'A record whose position is in `DEAD_LETTER_OFFSETS` is a letter, without a call.',
      mend: 'Name it there, and start again.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [['unit/engine/engine', 'parks the records an operator has named, without asking the flow']],
    },
  ],
};

export const REGISTRY: WrongSection = {
  title: 'The schema registry',
  rows: [
    {
      happens: 'It is away, slow, refuses, or answers nonsense while the connector runs.',
      holds: ['registry'],
      does: 'Schemas it has told before go on, for ever; JSON does not need it. A record of a new schema keeps its partition until the registry answers: tried after 1 s, doubling to 15 s. No letter.',
      mend: 'Look at the registry, at SCHEMA_REGISTRY_URL with its path, at user and password.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        ['integration/avro', 'that is away keeps nobody from what it has told before'],
        ['integration/avro', 'that %s is a hold: a payment of a new schema waits, and is scored afterwards'],
        ['integration/schema-registry', 'behind a wrong path is unreachable, not a registry without schemas'],
      ],
    },
    {
      happens: 'It stops answering while no record asks for it.',
      holds: ['registry'],
      events: ['connection_failed'],
      see: 'scope `probe` of the hold; `/readyz/scoring` and `/readyz/sync` 503',
      does: 'It is named within 15 s, and so is the end. Records whose schemas are known go on.',
      mend: 'Look at the registry before a producer changes its schema.',
      answers: ['nothing_moves'],
      shown: [
        [
          'process/silent-dependencies',
          'a registry that does not answer, and a service without TLS or without a port; never itself, frozen',
        ],
      ],
    },
    {
      happens: 'It does not know the id that a record names.',
      holds: ['schema_pending'],
      letters: ['schema_unknown'],
      does: 'The partition waits; after a second 404 at least 5 s later, from a registry that has our own schemas, a letter.',
      mend: 'Register the schema, or point SCHEMA_REGISTRY_URL at the registry of the producer; send the payment again.',
      answers: ['nothing_moves', 'all_letters'],
      shown: [
        [
          'integration/bad-input',
          'of an unknown schema waits for a second look, then is a letter, and what is behind it goes on: %s',
        ],
        [
          'unit/edges/schema-registry/known-schemas',
          'waits for the registry that has lost our own schemas, however often it says 404',
        ],
      ],
    },
    {
      happens: "A producer's schema has fields that the schema of the topic does not have.",
      events: ['writer_fields_dropped'],
      does: 'They are left out of what is sent; the record goes out without them. Each schema id is named once, and every such field is counted.',
      mend: 'Rename the field to a datapoint of the service, or map it (docs/mapping.md). If the service does not know it: nothing.',
      answers: [],
      shown: [
        ['unit/edges/schema-registry/registry', 'are reported once for each schema, and counted with each record'],
      ],
    },
    {
      happens: 'At the start it has not the schemas that are written.',
      faults: ['SCHEMA_MISSING'],
      does: 'The process ends with exit code 2.',
      mend: 'Run `npx fraud-connector schemas register`.',
      answers: ['no_start'],
      shown: [['process/start', 'ends the start with exit 2 and the name of the missing schema']],
    },
  ],
};
