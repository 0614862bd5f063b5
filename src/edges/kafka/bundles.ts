import { type Clock, type Cancel } from '../../kernel/clock.ts';
import { type Outgoing, type PartitionQueue, type SendResult } from './partition-queue.ts';

/** One request holds no more than this, beyond the first partition's. */
const MOST_RECORDS = 2000;
const MOST_BYTES = 2 * 1024 * 1024;
/** Longer than that the partitions of an open request do not keep others waiting. */
const PATIENCE_MS = 1000;

/** The records of one partition within a request. */
export interface Batch {
  readonly partition: number;
  readonly outgoing: readonly Outgoing[];
}

export interface BundlesOptions {
  readonly clock: Clock;
  /** The node that leads a partition, as far as is known. */
  readonly leaderOf: (partition: number) => number;
  /** One answer for each batch, in their order; never rejects. */
  readonly send: (batches: readonly Batch[]) => Promise<readonly SendResult[]>;
}

/** Partitions that wait for the same leader. */
interface Lane {
  readonly leader: number;
  readonly waiting: Set<PartitionQueue>;
  busy: boolean;
  /** The open request is not answered within a second: nobody waits for it. */
  late: boolean;
}

/**
 * Sends the partitions of one leader together: one request at a time to each leader, and what comes meanwhile makes up the
 * next. A broker answers the requests of a connection one after the other, so partitions that go alone wait for one
 * another's replicas, each at the price of a request. A request that fails, or is not answered within a second, frees who
 * waits for its leader: they try by themselves. Where kafkajs knows of another leader than we do, one send becomes two
 * requests, and the failure of one has the other's records repeated while theirs is open: twice in the topic, in order.
 */
export class Bundles {
  readonly #options: BundlesOptions;
  readonly #lanes = new Map<number, Lane>();

  constructor(options: BundlesOptions) {
    this.#options = options;
  }

  /** The partition has records; it is in no lane and not being sent. */
  join(queue: PartitionQueue): void {
    const leader = this.#options.leaderOf(queue.partition);
    let lane = this.#lanes.get(leader);
    if (lane === undefined) {
      lane = { leader, waiting: new Set(), busy: false, late: false };
      this.#lanes.set(leader, lane);
    }
    if (lane.late) {
      queue.goAlone();
      return;
    }
    lane.waiting.add(queue);
    if (lane.busy) return;
    lane.busy = true;
    const started = lane;
    // What comes in with the same turn goes with it.
    this.#options.clock.soon(() => {
      void this.#run(started);
    });
  }

  async #run(lane: Lane): Promise<void> {
    while (lane.waiting.size > 0) {
      const bundle = this.#next(lane);
      if (bundle.length > 0) await this.#send(lane, bundle);
    }
    lane.busy = false;
  }

  async #send(lane: Lane, bundle: readonly (Batch & { readonly queue: PartitionQueue })[]): Promise<void> {
    const { clock, send } = this.#options;
    const impatience: Cancel = clock.after(PATIENCE_MS, () => {
      lane.late = true;
      free(lane);
    });
    const results = await send(bundle);
    impatience();
    lane.late = false;
    if (results.some((result) => result.do === 'failed')) free(lane);
    for (const [index, { queue, outgoing }] of bundle.entries()) {
      const result = results[index] ?? { do: 'failed', error: 'UNACKNOWLEDGED' };
      queue.end(outgoing, result);
    }
  }

  /** As many partitions as one request may hold, longest waiting first; those that another node leads by now are put there. */
  #next(lane: Lane): readonly (Batch & { readonly queue: PartitionQueue })[] {
    const bundle: (Batch & { readonly queue: PartitionQueue })[] = [];
    let records = 0;
    let bytes = 0;
    for (const queue of lane.waiting) {
      const { partition } = queue;
      if (this.#options.leaderOf(partition) !== lane.leader) {
        lane.waiting.delete(queue);
        this.join(queue);
        continue;
      }
      const outgoing = queue.next();
      records += outgoing.length;
      for (const each of outgoing) bytes += each.bytes;
      if (bundle.length > 0 && (records > MOST_RECORDS || bytes > MOST_BYTES)) break;
      lane.waiting.delete(queue);
      if (outgoing.length > 0) bundle.push({ partition, outgoing, queue });
      else queue.rest();
    }
    return bundle;
  }
}

function free(lane: Lane): void {
  const waiting = [...lane.waiting];
  lane.waiting.clear();
  for (const queue of waiting) queue.goAlone();
}
