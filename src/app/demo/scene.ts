import { type Counted } from './history.ts';
import { type Moment } from './moment.ts';

/** Where the things are that a person may want to look at, for as long as the demo runs. */
export interface Places {
  readonly statusUrl: string;
  readonly ledgerUrl: string;
  readonly activityUrl: string;
  readonly kafka: string;
  readonly registryUrl: string;
  readonly logFile: string;
  readonly topics: Topics;
}

/** Names of topics; on somebody's own Kafka they have a prefix. */
export interface Topics {
  readonly prefix: string;
  readonly created: string;
  readonly authorized: string;
  readonly reviews: string;
  /** Null: no score records. */
  readonly scores: string | null;
}

/** What there is to draw. */
export interface Scene {
  readonly forMs: number;
  /** Until the shops close; null: until somebody says so. */
  readonly leftMs: number | null;
  /** What goes on besides: the shops are closed, the connector is told to stop. */
  readonly act: 'open' | 'waiting' | 'stopping';
  readonly moment: Moment;
  readonly rate: (of: Counted) => number;
  readonly series: (of: Counted) => readonly number[];
  readonly places: Places;
  /** What happened, newest last. */
  readonly news: readonly string[];
  /** For how much longer the service is made to answer 503; null: it is not. */
  readonly illForMs: number | null;
  /** The last picture, which stays: no keys to press. */
  readonly last: boolean;
}
