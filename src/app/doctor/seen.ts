import { type CompatibilityLevel } from '../../edges/schema-registry/subjects.ts';

/** What the doctor saw, before anything is made of it. */

/** An address, and why it does not take connections; null: it does. */
export interface AddressSeen {
  readonly address: string;
  readonly error: string | null;
}

/** What a topic is to the connector; letters are written, too. */
export type TopicRole = 'read' | 'written' | 'letters';

export interface TopicSeen {
  readonly topic: string;
  readonly for: string;
  readonly role: TopicRole;
  /** The largest value that is configured to go there. */
  readonly needsBytes: number | null;
  /** The option that says so. */
  readonly needsOption: string | null;
  /** 0: it does not exist; so with the replicas. */
  readonly partitions: number;
  readonly replicas: number;
  /** Null here and below: not known. */
  readonly minInsync: number | null;
  readonly maxMessageBytes: number | null;
  /** -1: for ever. */
  readonly retentionMs: number | null;
  readonly cleanupPolicy: string | null;
}

/** Where the group begins in a topic that it reads. */
export interface StartSeen {
  readonly topic: string;
  readonly committed: boolean;
  /** Records that nobody has decided about; 0: it may begin. */
  readonly undecided: bigint;
}

export interface ClusterSeen {
  readonly id: string;
  /** As the cluster names them. */
  readonly brokers: readonly AddressSeen[];
  readonly topics: readonly TopicSeen[];
  readonly starts: readonly StartSeen[];
  readonly offsetMetadataMaxBytes: number | null;
}

/** A look that did not come to an end: a stable word or a message without data. */
export interface NotSeen {
  readonly failed: string;
}

export interface KafkaSeen {
  /** As configured. */
  readonly bootstrap: readonly AddressSeen[];
  readonly cluster: ClusterSeen | NotSeen;
}

export interface SubjectSeen {
  readonly subject: string;
  /** `new`: nothing is registered; `older`: ours is not, and would fit; `refused`: it would not. */
  readonly standing: 'registered' | 'new' | 'older' | 'refused';
  /** Null: not known. */
  readonly level: CompatibilityLevel | null;
}

export interface LoginSeen {
  readonly status: number;
  readonly hasToken: boolean;
  /** How far the service's clock is ahead of ours; null: it does not say. */
  readonly aheadMs: number | null;
}

export interface PortSeen {
  readonly option: 'WEBHOOK_PORT' | 'OPS_PORT';
  readonly host: string;
  readonly port: number;
  /** Null: it can be listened on. */
  readonly error: string | null;
}

/** Everything. Null: not needed by the flows. */
export interface Seen {
  readonly kafka: KafkaSeen;
  readonly registry: readonly SubjectSeen[] | NotSeen | null;
  readonly service: LoginSeen | NotSeen | null;
  readonly ports: readonly PortSeen[];
  /** A connector answers on OPS_PORT of this machine. */
  readonly connectorRuns: boolean;
}
