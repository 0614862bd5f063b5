import { type HealthReport, type HoldReport } from '../../telemetry/ports.ts';

/** All holds of one cause: what a person has to do is the same. */
export interface HoldGroup {
  readonly cause: string;
  readonly means: string;
  readonly mend: string;
  /** Of the oldest. */
  readonly ageMs: number;
  /** Only some records wait for it: their flow goes on. */
  readonly partial: boolean;
  /** What waits, each once, the longest wait first. */
  readonly waiting: readonly Pick<HoldReport, 'scope' | 'ageMs' | 'records' | 'error' | 'position'>[];
}

/** The holds of a report by their causes, the oldest first. A flow whose gate holds, too, is named once. */
export function holdGroups({ holds, flows }: HealthReport): readonly HoldGroup[] {
  const oldestFirst = holds.toSorted((one, other) => other.ageMs - one.ageMs);
  return [...Map.groupBy(oldestFirst, ({ cause }) => cause)].flatMap(([cause, ofCause]) => {
    const [oldest] = ofCause;
    if (oldest === undefined) return [];
    const scopes = [...Map.groupBy(ofCause, ({ scope }) => flowOf(scope, flows) ?? scope)];
    const waiting = scopes.map(([scope, same]) => {
      const waits = flows.find(({ name }) => name === scope)?.waits.find((wait) => wait.cause === cause);
      const error = waits?.error ?? same.find((hold) => hold.error !== null)?.error ?? null;
      const position = waits?.position ?? same.find((hold) => hold.position !== null)?.position ?? null;
      return { scope, ageMs: same[0]?.ageMs ?? 0, records: waits?.records ?? null, error, position };
    });
    const { means, mend, ageMs, partial } = oldest;
    return [{ cause, means, mend, ageMs, partial, waiting }];
  });
}

/** The flow of `scoring breaker`; null: it is of none. */
function flowOf(scope: string, flows: HealthReport['flows']): string | null {
  return flows.find(({ name }) => scope === name || scope.startsWith(`${name} `))?.name ?? null;
}
