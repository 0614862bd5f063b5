/**
 * The table of codes: every way a record can end, and every cause for which the connector holds. Metrics, dead letters,
 * logs and docs/codes.md take their words from here; a new code is a row here.
 */

interface Row {
  readonly means: string;
  /** What an operator does about it. */
  readonly mend: string;
}

interface HoldRow extends Row {
  /** Only some records wait for it: their flow goes on. */
  readonly partial?: true;
}

/** Why a record became a dead letter (`dlq.reason`). */
export const LETTERS = {
  bad_framing: {
    means: 'The value is neither a JSON object nor Avro in Confluent framing (byte 0, then a 4-byte schema id).',
    mend: "Mend the producer's serializer; then send the payment again.",
  },
  schema_unknown: {
    means: 'The value names a schema id that the registry does not know, also after a second look at least 5 s later.',
    mend: 'Register the schema, or point SCHEMA_REGISTRY_URL at the registry the producer uses.',
  },
  schema_incompatible: {
    means: "The producer's schema cannot be read with this connector's.",
    mend: 'Give the fields compatible types; docs/schemas.md shows which.',
  },
  undecodable: {
    means:
      'The bytes do not decode with the schema they name, or are not valid JSON in UTF-8. `dlq.detail` is `batch` where the whole batch of the record cannot be unpacked: then the letter is a pointer.',
    mend: "Mend the producer's serializer; then send the payment again.",
  },
  not_an_object: { means: 'The value is JSON, but not an object.', mend: 'Send one object per record.' },
  trans_id_missing: {
    means: 'There is no trans_id: a non-empty string, or a whole number that JavaScript can represent exactly.',
    mend: 'Send the trans_id; nothing can be linked without it.',
  },
  card_data: {
    means: 'The record holds a card number, a verification value or track data; dlq.detail says which, and where.',
    mend: 'Stop the producer from sending it; docs/card-guard.md says what else to do. The letter holds none of it.',
  },
  mapping_refused: {
    means: 'A value of the record is none that the mapping can turn into the datapoint that dlq.detail names.',
    mend: 'Mend the value, or the mapping (docs/mapping.md); `explain` shows what a mapping makes of a record.',
  },
  record_too_large: {
    means:
      'The record is larger than RECORD_MAX_BYTES, its batch unpacks to more than BATCH_MAX_BYTES, or its score cannot be made small enough for Kafka. Always a pointer.',
    mend: 'Send less, or raise RECORD_MAX_BYTES, BATCH_MAX_BYTES or the `max.message.bytes` of fraud.scores; then send the record at `dlq.source` again.',
  },
  status_unknown: {
    means: 'The update has no status, or one that is not among the seven of the service.',
    mend: 'Send one of the statuses in docs/topics.md.',
  },
  ts_invalid: {
    means: 'The update has no ts, or one that is not an RFC 3339 time with a zone.',
    mend: 'Send the time of the status change, for example 2026-03-01T09:30:00Z.',
  },
  acq_ref_id_missing: {
    means: 'An approved card payment without acq_ref_id, while chargeback protection is on.',
    mend: 'Send acq_ref_id with the status approved; with pmt_method, where it was no card. SYNC_UNKNOWN_METHOD=send sends those without pmt_method.',
  },
  decline_reason_missing: {
    means: 'A declined payment with neither issuer_reason_code nor issuer_decline_reason.',
    mend: 'Send one of the two with the status declined. SYNC_DECLINE_REASON_REQUIRED says of which payments it is asked.',
  },
  transaction_not_scored: {
    means: 'The transaction of this update was refused, so the service knows of nothing to link it to.',
    mend: 'See the letter of the transaction; send that one again first, then this.',
  },
  'status_<code>': {
    means:
      'The service answered this record with this status while it worked for others: 400, 413 and 422 count at once, every other status after it came again and again.',
    mend: 'See dlq.service_error. Correct the data, or show the service the transaction; then send the record again.',
  },
  error_msg: {
    means: 'The service answered this record with an error_msg, again and again, while it worked for others.',
    mend: 'See dlq.service_error. Correct the data; then send the record again.',
  },
  unusable_answer: {
    means:
      'The service answered this record with 2xx and no JSON object, or with more than 1 MiB, again and again, while it worked for others. It may have carried it out.',
    mend: 'Look the transaction up at the service before sending it again.',
  },
  timed_out: {
    means:
      'The service did not answer this record in time, again and again, while it answered others. It may have carried it out.',
    mend: 'Look the transaction up at the service before sending it again: `dlq redrive --reason timed_out`.',
  },
  connection_failed: {
    means:
      'The connection was cut each time this record was sent, while others were answered. The service may have carried it out.',
    mend: 'Look the transaction up at the service before sending it again: `dlq redrive --reason connection_failed`.',
  },
  rejected_by_service: {
    means: 'The answer to a batch refused this update under its trans_id.',
    mend: 'See dlq.service_error; mend the data and send it again.',
  },
  ambiguous_then_refused: {
    means:
      'An earlier attempt may have been carried out, and the repeat was refused with 400 or 422: it may already be scored.',
    mend: 'Look the transaction up at the service before sending it again.',
  },
  connector_fault: {
    means: 'The connector itself failed on this record again and again while others succeeded.',
    mend: 'Report it with the value of dlq.detail.',
  },
  parked_by_operator: {
    means: 'An operator named its position in DEAD_LETTER_OFFSETS.',
    mend: 'Look at it, and send it again when it is mended.',
  },
  webhook_unrecognised: {
    means: 'An authentic webhook of a type, a decision or a shape that this version does not know.',
    mend: 'Update the connector; the letter keeps the webhook as it came.',
  },
} as const satisfies Record<string, Row>;

/** Why a record was passed over without a call. */
export const SKIPS = {
  already_scored: {
    means:
      'The service answered 409: it knows the transaction. A score record without a decision, with this code as its `failure`, says so.',
    mend: 'Nothing: readers keep the decision that they have. After a kill -9 some are to be expected.',
  },
  tombstone: { means: 'The record has no value (null).', mend: 'Nothing: compaction markers carry no payment.' },
  skip_when: {
    means: 'The rule `skip_when` of the mapping file says that this record is not for this connector.',
    mend: 'Nothing, if it is so; docs/mapping.md tells of the rule.',
  },
  newer_exists: {
    means: 'A replay or a redrive found a newer update of the same transaction in the topic.',
    mend: 'Nothing: the newest one is sent.',
  },
  out_of_range: {
    means: 'The record is not among those that a replay or a redrive was asked to send.',
    mend: 'Nothing, if the options were meant so.',
  },
} as const satisfies Record<string, Row>;

/** Why records wait although nothing is wrong with them. */
export const HOLDS = {
  kafka: {
    means: 'Kafka does not answer, refuses the login or a right, or a topic is missing.',
    mend: 'Look at the error of the event `hold_started`, and at the brokers; `check` says what they refuse, `topics check` what is missing.',
  },
  registry: {
    means: 'The schema registry does not answer.',
    mend: 'Look at the registry; known schemas go on meanwhile.',
  },
  schema_pending: {
    means: 'A record names a schema id the registry did not know at first look.',
    mend: 'Nothing at first: after a second 404 the record becomes a dead letter.',
  },
  service_down: {
    means: 'The screening service does not answer, or answers 429 or 5xx.',
    mend: 'Look at the service; sending goes on by itself.',
  },
  service_refuses: {
    means: 'The service refuses everybody (401 with a fresh session, 403, 404, redirects).',
    mend: 'Check SERVICE_BASE_URL and the rights of the account.',
  },
  credentials_refused: {
    means: 'The service refused user name and password.',
    mend: 'Check SERVICE_USERNAME and SERVICE_PASSWORD.',
  },
  sessions_displace_each_other: {
    means:
      'Sessions end soon after they begin: another user of the same credentials logs in, and each login ends the other.',
    mend: 'Give each program a user of its own.',
  },
  record_failing: {
    means:
      'The service fails for a record while it works for others. The record is tried again, and becomes a dead letter if it goes on failing; only records of its key wait.',
    mend: 'Nothing at first. To end it sooner, name its position in DEAD_LETTER_OFFSETS.',
    partial: true,
  },
  too_many_failing: {
    means:
      'More than half of the keys that are held in memory wait for a record that the service fails for, and no more can be read.',
    mend: 'Look at what the failing records have in common. DEAD_LETTER_MAX_SHARE lets more of them become dead letters, DEAD_LETTER_OFFSETS names single ones.',
  },
  dead_letter_guard: {
    means:
      'So many records would become dead letters that the cause is more likely the service, or a producer, than each of them. For 5 minutes none does; other records go on.',
    mend: 'Look at the newest dead letters and at what has changed. DEAD_LETTER_MAX_SHARE=1 turns the guard off.',
    partial: true,
  },
  start_position: {
    means:
      'The group has committed nothing of a topic that holds records older than an hour: whether to send them is for a person to say.',
    mend: 'Set KAFKA_START_FROM to earliest, latest or a time, and start again.',
  },
  offset_gap: {
    means: 'The log of a partition does not hold the next offset to be read any more, and KAFKA_OFFSET_GAP is stop.',
    mend: 'Find out what was missed (event offset_gap); then start with KAFKA_OFFSET_GAP=earliest.',
  },
  map_full: {
    means:
      'So much has ended behind records of a partition that have not that it finds no room beside the committed offset: more is not read, because a crash would repeat it.',
    mend: 'Look at what the oldest records wait for. To go on at once: name their positions in DEAD_LETTER_OFFSETS. Brokers should take 4,096 characters (`offset.metadata.max.bytes`).',
  },
  span_full: {
    means:
      'A record has not ended, and PARTITION_MAX_SPAN offsets have been read behind it: its partition is not read further, because a restart reads all of them again.',
    mend: 'The event `span_full` has its topic, partition and offset (on /status the `committable` of the partition). Look at what it waits for, or name it in DEAD_LETTER_OFFSETS and start again: it becomes a dead letter. A larger PARTITION_MAX_SPAN gives time.',
  },
  dead_letter_topic: {
    means:
      'The dead-letter topic cannot be written, whatever the reason. Records that need no dead letter go on; partitions of which too many dead letters wait are not read.',
    mend: 'Create it (`topics create`), give the right to write, or look at the brokers; the event `writer_retry` names the error.',
  },
  not_scored_yet: {
    means: 'A status update waits for its transaction to be scored.',
    mend: 'Nothing: it starts when scoring has come that far.',
  },
  batch_open: {
    means: 'An update waits for its batch, or for its next one: the last was not accepted, as others were.',
    mend: 'Nothing.',
  },
  flow_broken: {
    means: 'The connector failed on a record and tries it again.',
    mend: 'Report it with the log line `flow_broken`.',
  },
} as const satisfies Record<string, HoldRow>;

export type LetterCode = Exclude<keyof typeof LETTERS, 'status_<code>'> | `status_${number}`;
export type SkipRule = keyof typeof SKIPS;
export type HoldCause = keyof typeof HOLDS;

const STATUS_CODE = /^status_[1-5]\d\d$/;

/** Whether a reason code is an HTTP status of the service. */
export function isStatusCode(code: string): boolean {
  return STATUS_CODE.test(code);
}

/** Whether a text is a reason code of dead letters. */
export function isLetterCode(text: string): text is LetterCode {
  return STATUS_CODE.test(text) || (Object.hasOwn(LETTERS, text) && text !== 'status_<code>');
}

/** What a reason code means and what to do about it. */
export function letterRow(code: LetterCode): { readonly means: string; readonly mend: string } {
  return LETTERS[STATUS_CODE.test(code) ? 'status_<code>' : (code as keyof typeof LETTERS)];
}

/** Whether only some records of a flow wait for this cause, so that the flow itself goes on. */
export function isPartial(cause: HoldCause): boolean {
  const row: HoldRow = HOLDS[cause];
  return row.partial === true;
}

/** Why a dead letter was written: what its `dlq.` headers say. Stable codes and masked text only, no personal data. */
export interface Letter {
  readonly reason: LetterCode;
  /** Where it was decided: `read`, `rules`, `score`, `sync`, `webhook`. */
  readonly stage: string;
  /** A stable code that says more, for example the JSON pointer of the field. */
  readonly detail?: string;
  readonly httpStatus?: number;
  /** The service's `error_msg`, cut to 512 bytes. */
  readonly serviceError?: string;
}

/** The end of a record. Only then may the committed offset pass it. */
export type Settlement =
  | { readonly do: 'delivered' }
  | { readonly do: 'skip'; readonly rule: SkipRule }
  | { readonly do: 'dead_letter'; readonly letter: Letter };

export const DELIVERED: Settlement = { do: 'delivered' };
