import { avroValues } from './avro-values.ts';
import { drawnKeyPlan, fillTopic, hottestShare, keyPlan, type KeyPlan, nameOfKey, valueOf } from './backlog.ts';
import { type CompareArguments } from './compare-arguments.ts';
import { type CompareJob, UPDATES_PER_BATCH } from './compare-jobs.ts';
import { type Backlog } from './compare-run.ts';
import { type CompareStage } from './compare-stage.ts';

/** What nothing here exceeds; a backlog must last as long as is measured. */
const FASTEST = 60_000;
const SPARE = 1.25;
const MOST_BYTES = 1_000_000_000;
/** Enough for all requests at once, and few enough that who breaks order is seen to. */
const LEAST_KEYS = 512;
const KEYS_PER_REQUEST = 8;

/** What has to last for how long. */
type BacklogOptions = Pick<CompareArguments, 'jobs' | 'seconds' | 'warmUpSeconds'>;

/** Topics that are full, one for each kind of content: jobs that need the same records read the same ones. */
export class Backlogs {
  readonly #stage: CompareStage;
  readonly #options: BacklogOptions;
  readonly #say: (line: string) => void;
  readonly #full = new Map<string, Backlog>();

  constructor(stage: CompareStage, options: BacklogOptions, say: (line: string) => void) {
    this.#stage = stage;
    this.#options = options;
    this.#say = say;
  }

  /** A backlog that lasts for every job with this content. */
  async of(job: CompareJob): Promise<Backlog> {
    const content = contentOf(job);
    const known = this.#full.get(content);
    if (known !== undefined) return known;
    const alike = this.#options.jobs.filter((each) => contentOf(each) === content);
    const records = alike.reduce((most, each) => Math.max(most, this.#recordsFor(each)), 0);
    const topic = `bench.backlog.${String(this.#full.size + 1)}`;
    await this.#stage.createTopic(topic, job.partitions);
    const plan = planOf(job, records);
    const value = await this.#valueOf(job, topic);
    const { broker } = this.#stage;
    const { partitions } = job;
    const common = { broker, records, small: false, topic, partitions, value };
    const keyOfRecord = await fillTopic({ ...common, keyOf: plan.keyOf });
    const backlog = { topic, keyOfRecord, keys: plan.keys, hottest: hottestShare(keyOfRecord, plan.keys) };
    this.#say(`${String(records)} records of ${String(job.valueBytes)} bytes in ${String(partitions)} partitions.`);
    this.#full.set(content, backlog);
    return backlog;
  }

  #recordsFor({ latencyMs, concurrency, valueBytes, flow }: CompareJob): number {
    const { seconds, warmUpSeconds } = this.#options;
    const atOnce = concurrency * (flow === 'sync' ? UPDATES_PER_BATCH : 1);
    const rate = Math.min(FASTEST, latencyMs === 0 ? FASTEST : (1000 * atOnce) / latencyMs);
    const wanted = Math.ceil(SPARE * rate * (seconds + warmUpSeconds));
    return Math.min(wanted, Math.floor(MOST_BYTES / valueBytes));
  }

  async #valueOf(
    { flow, valueBytes, avro }: CompareJob,
    topic: string,
  ): Promise<(record: number, key: number) => string> {
    if (flow === 'sync') return updateOf;
    const filler = 's'.repeat(valueBytes - valueOf(0, 0, false).length);
    const toJson = (record: number, key: number): string => `${valueOf(record, key, false).slice(0, -2)}${filler}"}`;
    return avro ? await avroValues(this.#stage.kafka.registryUrl, topic, toJson) : toJson;
  }
}

/** What is in the topic that a job reads. */
function contentOf({ flow, keys, partitions, valueBytes, avro, concurrency }: CompareJob): string {
  return JSON.stringify([flow, keys, partitions, valueBytes, avro, leastKeys({ concurrency, partitions })]);
}

function leastKeys({ concurrency, partitions }: Pick<CompareJob, 'concurrency' | 'partitions'>): number {
  return Math.max(LEAST_KEYS, 2 * partitions, KEYS_PER_REQUEST * concurrency);
}

function planOf(job: CompareJob, records: number): KeyPlan {
  // Each update is of another transaction.
  if (job.flow === 'sync') return { keys: records, keyOf: (record) => record };
  return job.keys === 'zipf' ? keyPlan('zipf') : drawnKeyPlan(leastKeys(job));
}

function updateOf(record: number, key: number): string {
  const id = String(record).padStart(8, '0');
  return `{"trans_id":"b${id}","status":"approved","ts":"2026-03-01T09:30:00Z","acq_ref_id":"${nameOfKey(key)}"}`;
}
