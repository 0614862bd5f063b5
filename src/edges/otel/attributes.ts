import { type Attributes } from '@opentelemetry/api';

/**
 * Everything that a span may say: names of OpenTelemetry's semantic conventions where there are some. No key, id or text
 * of a record, of the service or of a webhook is among them. docs/tracing.md shows this table.
 */
export const ATTRIBUTES = {
  'messaging.system': '`kafka`',
  'messaging.operation.name': '`process` or `send`',
  'messaging.operation.type': '`process` or `send`',
  'messaging.destination.name': 'the topic',
  'messaging.destination.partition.id': 'the partition, as a text',
  'messaging.kafka.offset': 'the offset',
  'messaging.consumer.group.name': '`KAFKA_GROUP_ID`',
  'http.request.method': '`POST` or `PATCH`',
  'http.request.resend_count': 'how many attempts of this record came before; absent in the first',
  'http.response.status_code': 'the status; absent where there was no answer',
  'http.route': '`WEBHOOK_PATH`',
  'url.template': 'the path at the service, below its base URL',
  'url.full': 'where a request went: built from `SERVICE_BASE_URL`, never with a query',
  'url.path': '`WEBHOOK_PATH`',
  'url.scheme': '`http` or `https`: of the webhook port',
  'server.address': 'the host of `SERVICE_BASE_URL`',
  'server.port': 'its port',
  'error.type': 'a status of 400 or more, or a code of what went wrong',
  'fraud_connector.flow': '`scoring` or `sync`',
  'fraud_connector.outcome':
    '`delivered`, `skip`, `dead_letter`, or `lost`: the partition went to another process, or this one stopped',
  'fraud_connector.reason': 'the code of the letter, the skip or the wait ([codes.md](codes.md))',
  'fraud_connector.attempts': 'steps of the record, 1 where it never waited',
  'fraud_connector.updates': 'status updates in a request',
  'fraud_connector.result': 'what became of a webhook, as in `webhook_requests_total`',
} as const satisfies Record<string, string>;

export type AttributeName = keyof typeof ATTRIBUTES;

/** Attributes of a span: these and no others. */
export type SpanFacts = { readonly [N in AttributeName]?: string | number };

/** The same as the library wants them; a compile-time step only. */
export function toAttributes(facts: SpanFacts): Attributes {
  return facts;
}
