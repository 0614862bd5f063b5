import { fetchLocalJson, fetchLocalText } from '../../edges/system/local-http.ts';
import { METRIC_PREFIX } from '../../telemetry/metrics.ts';
import { type HealthReport } from '../../telemetry/ports.ts';

/** Why a batch of status updates was sent when it was. */
export type ClosedBy = 'records' | 'bytes' | 'age' | 'stop';

/** What the connector has counted since the demo began, over all its processes. */
export interface ConnectorCounts {
  readonly batchesClosedBy: Readonly<Record<ClosedBy, number>>;
  /** Webhooks answered with 200, and with anything else. */
  readonly webhooksTaken: number;
  readonly webhooksRefused: number;
}

/** What the connector says of itself on `/status`, as far as it is shown. */
export type ConnectorStatus = Pick<HealthReport, 'phase' | 'holds' | 'gates' | 'partitions'>;

/** One line of Prometheus' text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;
const LABEL = /(?<name>\w+)="(?<value>(?:[^"\\]|\\.)*)"/g;

/** The samples of a text in Prometheus' format; lines that are none are passed over. */
export function parseSamples(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const found = SAMPLE.exec(line)?.groups;
    const value = Number(found?.['value']);
    if (found === undefined || Number.isNaN(value)) return [];
    const labels = [...(found['labels'] ?? '').matchAll(LABEL)].map(({ groups }) => [
      groups?.['name'],
      groups?.['value'],
    ]);
    return [{ name: found['name'] ?? '', labels: Object.fromEntries(labels) as Record<string, string>, value }];
  });
}

/** Adds up counters over processes that each begin at zero. What a killed one counted after it was read last is gone. */
export class CountsOverRestarts {
  readonly #before = new Map<string, number>();
  readonly #now = new Map<string, number>();
  #ordinal = 0;

  /** What the process of this number has counted so far. */
  read(ordinal: number, samples: readonly Sample[]): void {
    if (ordinal !== this.#ordinal) {
      for (const [key, value] of this.#now) this.#before.set(key, (this.#before.get(key) ?? 0) + value);
      this.#ordinal = ordinal;
      this.#now.clear();
    }
    const counts = new Map<string, number>();
    for (const sample of samples) {
      const key = keyOf(sample);
      if (key !== null) counts.set(key, (counts.get(key) ?? 0) + sample.value);
    }
    for (const [key, value] of counts) this.#now.set(key, value);
  }

  get counts(): ConnectorCounts {
    const of = (key: string): number => (this.#before.get(key) ?? 0) + (this.#now.get(key) ?? 0);
    return {
      batchesClosedBy: {
        records: of('batch records'),
        bytes: of('batch bytes'),
        age: of('batch age'),
        stop: of('batch stop'),
      },
      webhooksTaken: of('webhook taken'),
      webhooksRefused: of('webhook refused'),
    };
  }
}

/** Results of a webhook whose answer is 200. */
const TAKEN = new Set(['published', 'duplicate', 'parked']);

function keyOf({ name, labels }: Sample): string | null {
  if (name === `${METRIC_PREFIX}batches_total`) return `batch ${labels['closed_by'] ?? ''}`;
  if (name === `${METRIC_PREFIX}webhook_requests_total`)
    return TAKEN.has(labels['result'] ?? '') ? 'webhook taken' : 'webhook refused';
  return null;
}

/** What the connector answers on `/status`; null: it does not answer. */
export async function fetchStatus(opsUrl: string): Promise<ConnectorStatus | null> {
  const status = await fetchLocalJson(`${opsUrl}/status`);
  if (typeof status !== 'object' || status === null || !('partitions' in status)) return null;
  return status as ConnectorStatus;
}

/** What the connector answers on `/metrics`; null: it does not answer. */
export async function fetchSamples(opsUrl: string): Promise<readonly Sample[] | null> {
  const text = await fetchLocalText(`${opsUrl}/metrics`);
  return text === null ? null : parseSamples(text);
}

/** Records not committed yet, by topic; null: the connector does not answer, or owns no partition. */
export function lagByTopic(status: ConnectorStatus | null): Readonly<Record<string, number>> | null {
  if (status === null || status.partitions.length === 0) return null;
  const lags: Record<string, number> = {};
  for (const { topic, lag } of status.partitions) lags[topic] = (lags[topic] ?? 0) + Number(lag);
  return lags;
}
