import { type FraudScore } from '../../screening/avro.generated.ts';

/** What the service said of the datapoints of a payment. */
type Validation = 'ok' | 'findings' | 'unsaid';

/** Counts what scoring answers came to. */
export class ScoreCounts {
  readonly decisions: Record<FraudScore['decision'], number> = {
    unknown: 0,
    decline: 0,
    approve: 0,
    manual_review: 0,
    custom: 0,
  };
  readonly validations: Record<Validation, number> = { ok: 0, findings: 0, unsaid: 0 };
  /** Payments scored after an attempt that may have been carried out. */
  repeated = 0;

  /** A payment was scored. */
  scored({ decision, validation_ok: ok }: Pick<FraudScore, 'decision' | 'validation_ok'>, maybeBefore: boolean): void {
    this.decisions[decision] += 1;
    this.validations[ok === null ? 'unsaid' : ok ? 'ok' : 'findings'] += 1;
    if (maybeBefore) this.repeated += 1;
  }
}
