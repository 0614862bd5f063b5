import { type Clock } from '../../kernel/clock.ts';
import { type LedgerTransaction } from '../../sandbox/service/ledger.ts';
import { type ScreeningService } from '../../sandbox/service/screening-service.ts';
import { CountsOverRestarts, fetchSamples, fetchStatus, lagByTopic } from './connector-report.ts';
import { type Latencies } from './latencies.ts';
import { type Decisions, type Moment } from './moment.ts';
import { type OutputsReader } from './outputs-reader.ts';
import { type Performer } from './performer.ts';
import { mishaps } from './reckoning.ts';
import { type ShopFloor } from './shop-floor.ts';

export interface ObserverParts {
  readonly service: Pick<ScreeningService, 'ledger'>;
  readonly opsUrl: string;
  readonly performer: Pick<Performer, 'kills' | 'pid'>;
  readonly floor: Pick<ShopFloor, 'payments' | 'authorized' | 'poison'>;
  readonly outputs: Pick<OutputsReader, 'found' | 'scores' | 'letters'>;
  readonly latencies: Latencies;
  readonly clock: Clock;
}

/** Looks at everything there is to see: the service's ledger, the topics, and what the connector says of itself. */
export class Observer {
  readonly #parts: ObserverParts;
  readonly #counts = new CountsOverRestarts();
  readonly #startedMs: number;

  constructor(parts: ObserverParts) {
    this.#parts = parts;
    this.#startedMs = parts.clock.monotonicMs();
  }

  /** How long ago the shops opened. */
  get forMs(): number {
    return this.#parts.clock.monotonicMs() - this.#startedMs;
  }

  /** Everything as it is now; takes half a second at most where the connector does not answer. */
  async look(): Promise<Moment> {
    const { opsUrl, performer, service, floor, outputs, latencies, clock } = this.#parts;
    const number = performer.kills;
    const [status, samples] = await Promise.all([fetchStatus(opsUrl), fetchSamples(opsUrl)]);
    // Counted for the one that was asked; where another has taken its place meanwhile nobody knows who answered.
    if (samples !== null && number === performer.kills) this.#counts.read(number, samples);
    const ledger = service.ledger();
    const summary = ledger.summary();
    const lags = lagByTopic(status);
    return {
      second: Math.round(this.forMs / 1000),
      created: floor.payments.size,
      authorized: floor.authorized,
      lag: lags === null ? null : Object.values(lags).reduce((sum, each) => sum + each, 0),
      lagByTopic: lags,
      decisions: countDecisions(ledger.transactions()),
      ledger: summary,
      published: outputs.found.events,
      scores: outputs.scores,
      latencyMs: latencies.quantiles(clock.nowMs()),
      counts: this.#counts.counts,
      poison: floor.poison,
      letters: outputs.letters,
      ...mishaps({ summary, reviews: outputs.found }),
      connector: { pid: performer.pid, kills: performer.kills, phase: status?.phase ?? null },
      holds: status?.holds ?? [],
      gates: status?.gates ?? [],
    };
  }
}

const DECISIONS = ['decline', 'approve', 'manual_review', 'custom'] as const;

function countDecisions(transactions: Iterable<LedgerTransaction>): Decisions {
  const counts = { decline: 0, approve: 0, manual_review: 0, custom: 0 };
  for (const { decision } of transactions) {
    const name = DECISIONS[decision ?? -1];
    if (name !== undefined) counts[name] += 1;
  }
  return counts;
}
