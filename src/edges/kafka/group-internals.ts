/** The parts of kafkajs 2.2.4 that its repairs reach into; none of them is in its types. */
export interface GroupBroker {
  readonly nodeId: number;
  readonly connectionPool: {
    readonly host: string;
    readonly port: number;
    readonly pool: readonly { rejectRequests(error: Error): void }[];
  };
  isConnected(): boolean;
  /** Rejects with the broker's error. */
  syncGroup(of: {
    readonly groupId: string;
    readonly generationId: number;
    readonly memberId: string;
    readonly groupAssignment: readonly never[];
  }): Promise<unknown>;
  findGroupCoordinator(of: { readonly groupId: string; readonly coordinatorType: number }): Promise<{
    readonly coordinator: { readonly nodeId: number };
  }>;
}

/** What a group commits of a topic, as kafkajs writes it. */
export interface GroupOffsets {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly offset: string; readonly metadata: string }[];
}

/** kafkajs' member of a group. */
export interface ConsumerGroup {
  readonly groupId: string;
  readonly cluster: GroupCluster;
  /** Changes with each heartbeat that is answered. */
  readonly lastRequest: number;
  /** Null before the first join. */
  readonly generationId: number | null;
  /** Null before the first join and after it has left. */
  readonly memberId: string | null;
  readonly retrier: Retrier;
  coordinator: GroupBroker | null;
  offsetManager: { coordinator: GroupBroker } | null;
  connect: (this: ConsumerGroup) => Promise<void>;
  joinAndSync: (this: ConsumerGroup) => Promise<void>;
  heartbeat: (this: ConsumerGroup, options: { readonly interval: number }) => Promise<void>;
  recoverFromFetch: (this: ConsumerGroup, error: unknown) => Promise<void>;
  commitOffsets(offsets: { readonly topics: readonly GroupOffsets[] }): Promise<void>;
}

/** Partitions of a topic. */
interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

/** What of a member of a group decides how it fetches. */
export interface FetchingGroup {
  /** In milliseconds: how long a broker may hold an answer back, and a fetcher sleeps that has nothing to ask for. */
  maxWaitTime: number;
  readonly subscriptionState: { active(): readonly TopicPartitions[] };
  filterPartitionsByNode(nodeId: number, of: readonly TopicPartitions[]): readonly TopicPartitions[];
  fetch: (this: FetchingGroup, nodeId: number) => Promise<unknown>;
}

/** A consumer's connections. */
export interface GroupCluster {
  readonly brokerPool: {
    readonly brokers: Readonly<Record<string, GroupBroker>>;
    findBroker(of: { readonly nodeId: number }): Promise<GroupBroker>;
  };
  refreshMetadata(): Promise<void>;
}

/** Runs work again as long as it fails, with waits in between and a bound on the number of failures. */
export type Retrier = (work: RetriedWork) => Promise<unknown>;

export type RetriedWork = (bail: (error: Error) => void, retryCount: number, retryTime: number) => Promise<unknown>;

/** What keeps the fetchers of a consumer going. */
export interface Runner {
  readonly consumerGroup: ConsumerGroup;
  retrier: Retrier;
  scheduleFetchManager: (this: Runner) => void;
}
