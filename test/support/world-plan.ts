/** How one step of a record goes; `batched`: in a batch that a barrier before a join gives back. */
export type Ending = 'deliver' | 'batched' | 'wait' | 'release' | 'throw' | 'letter' | 'letter refused';
/** Retention takes what lies below, at or above the position at which a partition is read. */
export type Expiry = 'expire below' | 'expire at' | 'expire above';
export type Incident = 'join' | 'leave' | 'rebalance' | 'crash' | 'commit fails' | 'commit lost' | Expiry;

/** All that a world is made of but the order in which things happen. */
export interface Plan {
  readonly records: readonly {
    readonly key: number;
    /** An offset without a record comes before it. */
    readonly afterHole: boolean;
    /** It can be read only when its schema has been fetched. */
    readonly needsSchema: boolean;
    /** Its first step may start only when somebody wakes its lane. */
    readonly blocked: boolean;
  }[];
  readonly partitions: number;
  /** In turn, by record and step; from the fourth step on every record is delivered. */
  readonly endings: readonly Ending[];
  readonly incidents: readonly Incident[];
  /** Steps at once. */
  readonly room: number;
  /** Records that a partition holds before it is paused. */
  readonly buffer: number;
  /** How long a barrier and a stop wait for what runs. */
  readonly patienceMs: number;
  /** A commit, with a map that says much and must not be believed, that was there before. */
  readonly inherited: 'nothing' | 'another cluster' | 'another offset' | 'damaged';
}

/** A process that dies after so many tasks; `late`: what it had sent still arrives, as long as the group has not come together anew. */
export interface Kill {
  readonly afterTasks: number;
  readonly pick: number;
  readonly late: boolean;
}
