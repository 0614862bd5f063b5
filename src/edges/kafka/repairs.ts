import { createRequire } from 'node:module';
import { type ConnectingPool, endOwnAttempts, shareConnects } from './connect-repair.ts';
import { followCoordinator } from './coordinator-repair.ts';
import { type ConsumerGroup, type FetchingGroup, type Runner } from './group-internals.ts';
import { leaveRanges, type RangedGroup } from './range-repair.ts';
import { type AskingPool, tellRefusals } from './refusal-repair.ts';
import { lookSoon } from './resume-repair.ts';
import { forgetFailures } from './retry-repair.ts';
import { type Connection, giveUpSilent } from './silence-repair.ts';
import { encodeRecord, growUnzeroed, type GrowingBuffer, type ProduceResponse, tellAll } from './write-repair.ts';

const REPAIRED_VERSION = '2.2.4';
const LOADING = 'GROUP_LOAD_IN_PROGRESS';

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests: (this: RequestQueue) => void;
}

const repaired = new WeakSet<object>();

/**
 * Mends thirteen defects of kafkajs 2.2.4 in place; does nothing for another version. Returns whether the repairs are in force.
 *
 * - An idle connection looks every millisecond after requests that wait, also when none does (2 % of a core for nothing,
 *   and a warning of Node's about negative delays). Whoever adds a request that has to wait starts the timer itself, so
 *   an empty queue needs none.
 * - The fetcher of each broker joins the group by itself when it meets a leader that has moved. Two at once are two joins
 *   of one member: the answer to the first is lost or overtaken, and the second begins after the first has been read
 *   back, when records run again. Here those who want to join while one join is on its way share that one.
 * - A join ends the consumer when the group's coordinator has not read the group from its log yet. Here it is repeated.
 * - A member stays with a coordinator that is gone: `followCoordinator`.
 * - A partition that flows again after all were paused is noticed late: `lookSoon`.
 * - An offset that is out of range makes it commit "none" over what was committed: `leaveRanges`.
 * - Failures are counted for as long as no join comes: `forgetFailures`.
 * - Writing a small record costs many times what its bytes do: `encodeRecord`.
 * - Of a write to several partitions that one of them has refused, the answers of the others are lost: `tellAll`.
 * - A connection that has fallen silent is kept, and all that is asked on it times out: `giveUpSilent`.
 * - Each of those who need a connection at once opens a socket of its own: `shareConnects`.
 * - An attempt to connect that has failed ends the next one: `endOwnAttempts`.
 * - A right that is missing on a group looks like a group without a coordinator: `tellRefusals`.
 */
export function repairKafkajs(): boolean {
  const load = createRequire(import.meta.url);
  try {
    const { version } = load('kafkajs/package.json') as { readonly version?: unknown };
    if (version !== REPAIRED_VERSION) return false;
    once((load('kafkajs/src/network/requestQueue') as { readonly prototype: RequestQueue }).prototype, quietIdleQueues);
    once(
      (
        load('kafkajs/src/consumer/consumerGroup') as {
          readonly prototype: ConsumerGroup & FetchingGroup & RangedGroup;
        }
      ).prototype,
      (prototype) => {
        shareJoins(prototype);
        followCoordinator(prototype);
        lookSoon(prototype);
        leaveRanges(prototype);
      },
    );
    once((load('kafkajs/src/consumer/runner') as { readonly prototype: Runner }).prototype, forgetFailures);
    once(
      (load('kafkajs/src/cluster/brokerPool') as { readonly prototype: AskingPool & ConnectingPool }).prototype,
      (prototype) => {
        tellRefusals(prototype);
        endOwnAttempts(prototype);
      },
    );
    once((load('kafkajs/src/network/connection') as { readonly prototype: Connection }).prototype, (prototype) => {
      giveUpSilent(prototype);
      shareConnects(prototype);
    });
    repairWrites(load);
    return true;
  } catch {
    return false;
  }
}

function once<T extends object>(prototype: T, repair: (prototype: T) => void): void {
  if (repaired.has(prototype)) return;
  repair(prototype);
  repaired.add(prototype);
}

/** For what kafkajs reads when it writes for the first time. */
function repairWrites(load: NodeJS.Require): void {
  once((load('kafkajs/src/protocol/encoder') as { readonly prototype: GrowingBuffer }).prototype, growUnzeroed);
  once(load('kafkajs/src/protocol/requests/produce/v3/response') as ProduceResponse, tellAll);
  replace(load, 'kafkajs/src/protocol/recordBatch/record/v0', encodeRecord);
}

/** In place of what a file of kafkajs exports, for its other files, which ask for it when they are first needed. */
function replace(load: NodeJS.Require, path: string, by: unknown): void {
  load(path);
  const module = load.cache[load.resolve(path)];
  if (module !== undefined) module.exports = by;
}

function quietIdleQueues(prototype: RequestQueue): void {
  const original = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleUnlessEmpty(this: RequestQueue): void {
    if (this.pending.length > 0) original.call(this);
  };
}

function shareJoins(prototype: ConsumerGroup): void {
  const original = prototype.joinAndSync;
  const joining = new WeakMap<ConsumerGroup, Promise<void>>();
  prototype.joinAndSync = async function joinOnce(this: ConsumerGroup): Promise<void> {
    const running = joining.get(this);
    if (running !== undefined) {
      await running;
      return;
    }
    const join = untilLoaded(this, async () => {
      await original.call(this);
    });
    joining.set(this, join);
    try {
      await join;
    } finally {
      joining.delete(this);
    }
  };
}

/** A coordinator that is still reading the group from its log will have read it soon: no reason to end the consumer. */
async function untilLoaded(group: ConsumerGroup, join: () => Promise<void>): Promise<void> {
  await group.retrier(async (bail) => {
    try {
      await join();
    } catch (error) {
      if (!(error instanceof Error) || Reflect.get(error, 'type') === LOADING) throw error;
      bail(error);
    }
  });
}
