import { type ConsumerGroup, type GroupBroker, type GroupOffsets } from './group-internals.ts';

const NOT_MOVED = new Error('The group is coordinated where it was.');
const NO_GENERATION = new Error('The member belongs to no generation of the group.');
/** Of FindCoordinator's request: of a group, not of a transaction. */
const OF_A_GROUP = 0;

/** Errors of a heartbeat after which the group may have another coordinator. */
const LOST: ReadonlySet<string> = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
]);

/** The brokers' name for it: the topic has been deleted, or the broker that was asked lags. */
const UNKNOWN_TOPIC = 'UNKNOWN_TOPIC_OR_PARTITION';

/** Answers of a broker that is about to coordinate the group: it has been named by the others, and has not read the group yet. */
const NOT_READY: ReadonlySet<unknown> = new Set([
  'NOT_COORDINATOR_FOR_GROUP',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
]);

/** `unknown`: nobody could be asked. */
type Finding = 'moved' | 'same' | 'unknown';

/** What may be asked of a consumer's membership from outside of its fetchers. */
export interface Membership {
  /** One heartbeat, unless one was answered less than `intervalMs` ago by the wall clock. Rejects as kafkajs does. */
  heartbeat(intervalMs: number): Promise<void>;
  /**
   * Asks the coordinator whether the member belongs to the present generation: by a SyncGroup, which it answers from the
   * group's settled state only. Unlike a heartbeat it is refused while the coordinator still reads the group from its
   * log. To be called between joins only; rejects as kafkajs does, or where there is no generation.
   */
  confirm(): Promise<void>;
  /** One attempt, of the present generation. kafkajs' own way to it comes with a batch, and says nothing of how it ended. Rejects as kafkajs does. */
  commit(topics: readonly GroupOffsets[]): Promise<void>;
  /** Asks the other brokers who coordinates the group; whether it has moved, and goes on with the new one. Never rejects. */
  findCoordinator(): Promise<boolean>;
  /** How many heartbeats have been answered. */
  readonly beats: number;
}

const unknownTopics = new WeakMap<object, () => void>();
const groups = new WeakMap<object, ConsumerGroup>();
const looks = new WeakMap<ConsumerGroup, Promise<Finding>>();
const counts = new WeakMap<ConsumerGroup, { beats: number; lastRequest: number }>();

/**
 * Lets a member go on with the group's new coordinator: kafkajs looks for it before a join and at no other time, so that
 * heartbeats and commits stay with a broker that is gone until the retries end in a crash. The new coordinator has read
 * the group from its log, generation and members included: the same member goes on with it, without a join, and so
 * without a barrier or a duplicate. (Kafka's own clients do the same.)
 */
export function followCoordinator(prototype: ConsumerGroup): void {
  const { heartbeat, connect, recoverFromFetch } = prototype;
  prototype.connect = async function connectKnown(this: ConsumerGroup): Promise<void> {
    groups.set(this.cluster, this);
    await connect.call(this);
  };
  prototype.heartbeat = async function heartbeatThere(this: ConsumerGroup, options): Promise<void> {
    const asked = this.coordinator;
    try {
      await heartbeat.call(this, options);
    } catch (error) {
      if (!mayHaveMoved(error)) throw error;
      const finding = this.coordinator === asked ? await look(this) : 'moved';
      if (finding === 'unknown' || (finding === 'same' && !isNotReady(error))) throw error;
      if (finding === 'moved') await beatUnlessNotReady(async () => await heartbeat.call(this, options));
    }
    count(this);
  };
  prototype.recoverFromFetch = async function recoverAloud(this: ConsumerGroup, error): Promise<void> {
    try {
      await recoverFromFetch.call(this, error);
    } catch (failure) {
      if (failure instanceof Error && Reflect.get(failure, 'type') === UNKNOWN_TOPIC)
        unknownTopics.get(this.cluster)?.();
      throw failure;
    }
  };
}

/** Calls the listener each time the brokers say that they do not know a topic which this consumer reads. */
export function onUnknownTopic(cluster: object, listener: () => void): void {
  unknownTopics.set(cluster, listener);
}

/** The membership of the consumer with this connection to the cluster; null: it has not begun, or nothing is repaired. */
export function membershipOf(cluster: object): Membership | null {
  const group = groups.get(cluster);
  if (group === undefined) return null;
  return {
    heartbeat: async (interval) => {
      await group.heartbeat({ interval });
    },
    confirm: async () => {
      const { coordinator, groupId, generationId, memberId } = group;
      if (coordinator === null || generationId === null || memberId === null) throw NO_GENERATION;
      await coordinator.syncGroup({ groupId, generationId, memberId, groupAssignment: [] });
    },
    commit: async (topics) => {
      await group.commitOffsets({ topics });
    },
    findCoordinator: async () => {
      const before = group.coordinator;
      const moved = (await look(group)) === 'moved';
      if (moved && before !== null && before !== group.coordinator) abandon(before);
      return moved;
    },
    get beats() {
      return beatsOf(group);
    },
  };
}

/** How many heartbeats of the group's member have been answered. */
export function beatsOf(group: ConsumerGroup): number {
  return counts.get(group)?.beats ?? 0;
}

function count(group: ConsumerGroup): void {
  const known = counts.get(group) ?? { beats: 0, lastRequest: 0 };
  // The callers of one heartbeat share it, and one that was not due yet has sent none.
  if (known.lastRequest !== group.lastRequest)
    counts.set(group, { beats: known.beats + 1, lastRequest: group.lastRequest });
}

/** kafkajs would take such an answer for a rebalance, and its join for the end of the consumer. The next heartbeat is soon enough. */
async function beatUnlessNotReady(beat: () => Promise<void>): Promise<void> {
  try {
    await beat();
  } catch (error) {
    if (!isNotReady(error)) throw error;
  }
}

function isNotReady(error: unknown): boolean {
  return error instanceof Error && NOT_READY.has(Reflect.get(error, 'type'));
}

function mayHaveMoved(error: unknown): boolean {
  return isNotReady(error) || (error instanceof Error && LOST.has(error.name));
}

async function look(group: ConsumerGroup): Promise<Finding> {
  const running = looks.get(group) ?? lookOnce(group);
  looks.set(group, running);
  try {
    return await running;
  } finally {
    looks.delete(group);
  }
}

async function lookOnce(group: ConsumerGroup): Promise<Finding> {
  const { coordinator: before, cluster, groupId } = group;
  // Those that are connected: to connect here would open what a disconnect under way has closed.
  const others = Object.values(cluster.brokerPool.brokers).filter(
    (broker) => broker.nodeId !== before?.nodeId && broker.isConnected(),
  );
  try {
    // All at once: one of them may be as silent as the coordinator is.
    const nodeId = await Promise.any(others.map(async (broker) => await otherThan(before, broker, groupId)));
    const found = await cluster.brokerPool.findBroker({ nodeId });
    // A join has been faster.
    if (group.coordinator !== before) return 'moved';
    group.coordinator = found;
    if (group.offsetManager !== null) group.offsetManager.coordinator = found;
    return 'moved';
  } catch (error) {
    // A broker that is not in the metadata yet; what comes of it is seen at the next look.
    if (error instanceof Error && error.name === 'KafkaJSBrokerNotFound')
      void cluster.refreshMetadata().catch(() => undefined);
    const isConfirmed = error instanceof AggregateError && error.errors.some((of) => of === NOT_MOVED);
    return isConfirmed ? 'same' : 'unknown';
  }
}

async function otherThan(before: GroupBroker | null, asked: GroupBroker, groupId: string): Promise<number> {
  const { coordinator } = await asked.findGroupCoordinator({ groupId, coordinatorType: OF_A_GROUP });
  if (coordinator.nodeId === before?.nodeId) throw NOT_MOVED;
  return coordinator.nodeId;
}

/**
 * Ends what still waits for an answer of a broker that the cluster has given up: it may never come. The name of the error
 * makes kafkajs close the connections, take the broker out of its list and ask for the metadata anew.
 */
function abandon({ connectionPool: { host, port, pool } }: GroupBroker): void {
  const closed = Object.assign(new Error('Closed connection'), { name: 'KafkaJSConnectionClosedError', host, port });
  for (const connection of pool) connection.rejectRequests(closed);
}
