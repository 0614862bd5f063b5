import { type ExchangeReport } from '../kernel/exchange-counts.ts';
import { type ReadMetric, type Sample } from './metric-row.ts';
import { type Running } from './running.ts';

export type OtelMetricName =
  | 'messaging_client_consumed_messages_total'
  | 'messaging_process_duration_seconds'
  | 'messaging_client_sent_messages_total'
  | 'messaging_client_operation_duration_seconds'
  | 'http_client_request_duration_seconds'
  | 'http_client_active_requests'
  | 'http_server_request_duration_seconds'
  | 'http_server_active_requests';

/** A metric that has a name of OpenTelemetry's, with its labels. */
export type OtelMetric = ReadMetric<Running>;

const CONSUMER_LABELS = [
  'messaging_system',
  'messaging_operation_name',
  'messaging_destination_name',
  'messaging_consumer_group_name',
];
const CLIENT_LABELS = ['messaging_system', 'messaging_operation_name', 'messaging_destination_name', 'error_type'];
const SERVER_LABELS = ['http_request_method', 'url_template', 'server_address', 'server_port'];

function messaging(operation: string, topic: string): Record<string, string> {
  return { messaging_system: 'kafka', messaging_operation_name: operation, messaging_destination_name: topic };
}

function perFlow(
  operation: string,
  value: (flow: NonNullable<Running['engine']>['flows'][number]) => Sample['value'],
): OtelMetric['samples'] {
  return ({ engine, group }) =>
    (engine?.flows ?? []).map((flow) => ({
      labels: { ...messaging(operation, flow.topic), messaging_consumer_group_name: group },
      value: value(flow),
    }));
}

function serverOf({ method, template, host, port }: ExchangeReport): Record<string, string> {
  return { http_request_method: method, url_template: template, server_address: host, server_port: String(port) };
}

/** An answer has a status; where there was none, there is a type of error. A 4xx or 5xx is an error, too. */
function endLabels(end: number | string): Record<string, string> {
  const status = typeof end === 'number' ? String(end) : '';
  return { http_response_status_code: status, error_type: typeof end === 'number' && end < 400 ? '' : String(end) };
}

function operations({ engine, writes }: Running): readonly Sample[] {
  const commits = engine?.commits;
  return [
    ...writes.flatMap(({ topic, ends }) =>
      [...ends].map(([error, value]) => ({ labels: { ...messaging('send', topic), error_type: error }, value })),
    ),
    ...(commits === undefined
      ? []
      : [
          { labels: { ...messaging('commit', ''), error_type: '' }, value: commits.ok },
          { labels: { ...messaging('commit', ''), error_type: 'failed' }, value: commits.failed },
        ]),
  ];
}

/**
 * Metrics that OpenTelemetry's semantic conventions name (messaging and HTTP), as Prometheus writes them: underscores for
 * dots, and the unit at the end. Labels that would grow without bound (partitions, offsets, paths as they came) are left out.
 */
export const OTEL_METRICS: { readonly [N in OtelMetricName]: OtelMetric } = {
  messaging_client_consumed_messages_total: {
    type: 'counter',
    labels: CONSUMER_LABELS,
    means: 'Records read from a topic (`poll`), those that were read again after a rebalance included.',
    rise: 'It is the traffic. A fall to 0 while others produce: look at `partitions_assigned`, `paused_partitions` and `hold`.',
    samples: perFlow('poll', (flow) => flow.consumed),
  },
  messaging_process_duration_seconds: {
    type: 'histogram',
    labels: CONSUMER_LABELS,
    means:
      'From the first step of a record to its end (`process`): calls, waits between attempts, the wait in a batch, the write to Kafka.',
    rise: 'Subtract the calls (`http_client_request_duration_seconds`): what is left are waits (`waiting_records`) and Kafka (`messaging_client_operation_duration_seconds`).',
    samples: perFlow('process', (flow) => flow.processing),
  },
  messaging_client_sent_messages_total: {
    type: 'counter',
    labels: CLIENT_LABELS,
    means:
      'Records written to a topic (`send`): scores, reviews, letters. `error_type`: empty where Kafka acknowledged, `unavailable`, `too_large`, `invalid`.',
    rise: '`unavailable`: Kafka does not acknowledge; records wait and are written again. `too_large`, `invalid`: the limits of the topic are too narrow.',
    samples: ({ writes }) =>
      writes.flatMap(({ topic, ends }) =>
        [...ends].map(([error, { count }]) => ({
          labels: { ...messaging('send', topic), error_type: error },
          value: count,
        })),
      ),
  },
  messaging_client_operation_duration_seconds: {
    type: 'histogram',
    labels: CLIENT_LABELS,
    means:
      'How long Kafka took: `send` from the hand-over of a record to its acknowledgement by all in-sync replicas, `commit` (of all partitions, so without a topic).',
    rise: 'Brokers are slow: look at their disks, at in-sync replicas and at request handlers.',
    samples: operations,
  },
  http_client_request_duration_seconds: {
    type: 'histogram',
    labels: [...SERVER_LABELS, 'http_response_status_code', 'error_type'],
    means:
      'Requests to the screening service and to the schema registry, from the first byte out to the last byte in. `error_type` without a status: `timeout`, `connect`, `reset`, `oversized`, `protocol`; registry: `timeout`, `oversized`, or the name of the error.',
    rise: 'That neighbour is slow or ill; the statuses say which. The wait for a free connection is not in it: see `messaging_process_duration_seconds`.',
    samples: ({ service, registry }) =>
      [...service, ...registry].flatMap((report) =>
        [...report.ends].map(([end, value]) => ({ labels: { ...serverOf(report), ...endLabels(end) }, value })),
      ),
  },
  http_client_active_requests: {
    type: 'gauge',
    labels: SERVER_LABELS,
    means: 'Requests that are out and not answered yet.',
    rise: 'At SCORING_CONCURRENCY (POST) or SYNC_BATCHES_IN_FLIGHT (PATCH) for long: the service is slower than the traffic.',
    samples: ({ service, registry }) =>
      [...service, ...registry].map((report) => ({ labels: serverOf(report), value: report.active })),
  },
  http_server_request_duration_seconds: {
    type: 'histogram',
    labels: ['http_route', 'http_request_method', 'http_response_status_code'],
    means:
      'Webhooks, from the whole request to the answer, by status; 0 for what was refused before it was whole. The port for operators is not in it.',
    rise: '503: Kafka does not acknowledge in time, the sender repeats. 401: as `bad_signature` of `webhook_requests_total`.',
    samples: ({ webhooks }) =>
      webhooks === null
        ? []
        : [...webhooks.ends].map(([status, value]) => ({
            labels: {
              http_route: webhooks.route,
              http_request_method: 'POST',
              http_response_status_code: String(status),
            },
            value,
          })),
  },
  http_server_active_requests: {
    type: 'gauge',
    labels: ['http_route', 'http_request_method'],
    means: 'Webhooks that have come whole and are not answered yet.',
    rise: 'Kafka acknowledges slowly: look at `messaging_client_operation_duration_seconds`.',
    samples: ({ webhooks }) =>
      webhooks === null
        ? []
        : [{ labels: { http_route: webhooks.route, http_request_method: 'POST' }, value: webhooks.active }],
  },
};
