import { type Distribution } from '../kernel/bucket-counts.ts';

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** What is told of a metric beside its name. */
export interface MetricRow {
  readonly type: MetricType;
  readonly labels: readonly string[];
  readonly means: string;
  /** What it means when it rises (or is not 0, or falls: it says so), and what to do then. */
  readonly rise: string;
}

/** One line of a metric, or the lines of one histogram. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number | Distribution;
}

/** Both clocks at the moment of reading. */
export interface Moment {
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** A metric that is read from a state whenever metrics are asked for. */
export interface ReadMetric<State> extends MetricRow {
  readonly samples: (state: State, at: Moment) => readonly Sample[];
}
