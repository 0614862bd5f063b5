import { HOLDS, LETTERS, SKIPS } from '../kernel/outcome.ts';

/** What a label can hold: a list of values, or (where they come from the configuration or are numbers) their form. */
export type LabelValues = readonly string[] | { readonly like: RegExp; readonly what: string };

const TOPIC: LabelValues = { like: /^[\w.-]{1,249}$/, what: 'a topic of the configuration' };
const STATUS: LabelValues = { like: /^[0-9]{1,3}$/, what: 'an HTTP status; 0: no answer' };
const OPTION: LabelValues = { like: /^[A-Z][A-Z0-9_]+$/, what: 'the name of an option' };
/** `status_<code>` stands for the codes of the answers of the service. */
const REASONS: readonly string[] = [...Object.keys(LETTERS), ...Object.keys(SKIPS)];
const REASON: LabelValues = {
  like: new RegExp(`^(|${REASONS.map((code) => code.replace('<code>', String.raw`[1-5]\d\d`)).join('|')})$`),
  what: 'empty: none; why the record became a dead letter or was skipped: a code of codes.md',
};
const WHY: readonly string[] = ['card_data', 'unread', 'too_large', 'invalid'];

/** What each label of ours holds, wherever it occurs; `METRIC.LABEL` goes before it. Nothing from a record is among it. */
export const LABEL_VALUES: Readonly<Record<string, LabelValues>> = {
  flow: ['scoring', 'sync'],
  outcome: ['delivered', 'skipped', 'dlq'],
  reason: REASON,
  cause: Object.keys(HOLDS),
  scope: {
    like: /^[\w., -]{1,600}$/,
    what: 'what waits: `scoring`, `sync`, either with `breaker` or `dead letters`, `commit`, `start`, `group`, `offsets`, `brokers`, `probe` (a dependency does not answer, whether or not a record waits for it), or topics that are missing',
  },
  topic: TOPIC,
  partition: { like: /^[0-9]{1,10}$/, what: 'a number' },
  phase: ['idle', 'joining', 'running', 'stopping', 'stopped'],
  class: ['ok', 'refused', 'failed', 'no_session', 'void'],
  decision: ['approve', 'decline', 'manual_review', 'custom', 'unknown'],
  closed_by: ['records', 'bytes', 'age', 'stop'],
  status: STATUS,
  field: { like: /^[\w.[\]-]{1,64}$/, what: "a field's name of the service's interface" },
  operation: ['score', 'sync'],
  note: ['approved_without_acq_ref_id', 'declined_without_reason', 'reason_code_as_text'],
  dropped: ['extra', 'signals'],
  signature_form: ['hex', 'base64'],
  timestamp_form: ['rfc3339', 'unix_s', 'unix_ms'],
  secret: ['newest', 'older'],
  window: ['inside', 'outside'],
  option: OPTION,
  severity: ['error', 'warn'],
  neighbour: ['service', 'registry'],
  version: { like: /^\d+\.\d+\.\d+[\w.+-]*$/, what: 'a version' },
  config_hash: { like: /^[0-9a-f]{12}$/, what: '12 hexadecimal digits' },
  messaging_system: ['kafka'],
  messaging_operation_name: ['poll', 'process', 'send', 'commit'],
  messaging_destination_name: {
    like: /^[\w.-]{0,249}$/,
    what: 'a topic of the configuration; empty for commits, which are of all',
  },
  messaging_consumer_group_name: { like: /^.{1,255}$/, what: 'KAFKA_GROUP_ID' },
  error_type: {
    like: /^(|_OTHER|[1-9][0-9]{2}|[A-Za-z][\w. ]{0,60})$/,
    what: 'empty: none; an HTTP status, or the name of why there was no answer',
  },
  http_request_method: ['GET', 'POST', 'PATCH'],
  http_response_status_code: { like: /^([1-9][0-9]{2})?$/, what: 'an HTTP status; empty: no answer' },
  http_route: { like: /^\/[^?#]*$/, what: 'WEBHOOK_PATH' },
  url_template: {
    like: /^(_OTHER|\/[\w/{}.%~-]*)$/,
    what: 'the path as the interface writes it, with names for what changes; after the path of SERVICE_BASE_URL',
  },
  server_address: { like: /^[\w.:[\]-]{1,255}$/, what: 'the host of SERVICE_BASE_URL or SCHEMA_REGISTRY_URL' },
  server_port: { like: /^[0-9]{1,5}$/, what: 'its port' },
  type: { like: /^[A-Za-z]+$/, what: "Node's name for it, such as `TCPSocketWrap`" },
  kind: ['minor', 'major', 'incremental', 'weakcb'],
  'commits_total.result': ['ok', 'failed'],
  'login_total.result': ['ok', 'refused', 'failed'],
  'scoring_validations_total.result': ['ok', 'findings', 'unsaid'],
  'schema_registry_requests_total.result': ['ok', 'not_found', 'refused', 'failed'],
  'webhook_requests_total.result': [
    'published',
    'duplicate',
    'parked',
    'bad_path',
    'bad_method',
    'bad_type',
    'too_large',
    'too_slow',
    'malformed',
    'bad_signature',
    'bad_timestamp',
    'outside_window',
    'not_an_object',
    'unavailable',
  ],
  'offset_gaps_total.why': ['expired', 'truncated', 'recreated'],
  'offset_gap_records_total.why': ['expired', 'truncated', 'recreated'],
  'offset_maps_ignored_total.why': ['foreign', 'mirrored', 'damaged', 'future'],
  'dlq_withheld_total.why': WHY,
  'webhook_tls_failures_total.why': ['certificate_refused', 'no_common_version', 'plain_http', 'too_slow', 'other'],
  'secret_reload_failures_total.why': ['unreadable', 'empty', 'refused'],
  'spans_dropped_total.why': ['queue_full', 'export_failed', 'stopped'],
};

/** What a label of this metric (without the prefix) can hold; undefined: nobody has said. */
export function valuesOf(metric: string, label: string): LabelValues | undefined {
  const exact = LABEL_VALUES[`${metric}.${label}`];
  if (exact !== undefined) return exact;
  return label === 'result' && metric === 'webhook_seconds'
    ? LABEL_VALUES['webhook_requests_total.result']
    : LABEL_VALUES[label];
}

/** Whether this value may stand there. */
export function isAllowed(metric: string, label: string, value: string): boolean {
  const values = valuesOf(metric, label);
  if (values === undefined) return false;
  return 'like' in values ? values.like.test(value) : values.includes(value);
}
