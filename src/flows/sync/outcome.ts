/** What an answer, and what the attribution makes of it, mean for the service's health and for each update. */
import { type Letter } from '../../kernel/outcome.ts';
import { type Decision, type FailedAttempt } from '../../resilience/attribution.ts';
import { type CallEnd } from '../../resilience/breaker.ts';
import { type BatchAnswer, type Failure } from './answer.ts';
import { type UpdateEnd } from './batch.ts';
import { type Culprit, isRefused, type UpdateState } from './search.ts';

/** What waits for the service is tried again at least this often: it is the longest time between two probes, too. */
const SERVICE_MAX_MS = 8_000;
/** What failed with others, while others are accepted, has most likely done nothing wrong. */
const SHARED_MAX_MS = 2_000;

/** What a call says of the service's health. `believesRefusals`: what is refused here was refused before, so that is no surprise. */
export function toCallEnd(answer: BatchAnswer, delivered: number, believesRefusals: boolean): CallEnd {
  switch (answer.do) {
    case 'unsent':
      return answer.end;
    case 'accepted':
      return delivered > 0 || believesRefusals ? { do: 'ok' } : { do: 'refused', cause: 'service_refuses' };
    case 'failed': {
      const { verdict, cause } = answer;
      if (verdict === 'refused') return believesRefusals ? { do: 'ok' } : { do: 'refused', cause };
      return { do: 'failed', cause };
    }
  }
}

/** An update that failed; `culprit` is null where it failed with others, or while the service fails for everybody. */
export interface FailedUpdate {
  readonly state: UpdateState;
  readonly failure: Failure;
  readonly culprit: Omit<Culprit<unknown>, 'member'> | null;
  /** How many calls had begun when the first of its search failed; null: none did. */
  readonly failedAt: number | null;
  /** Whether the service accepted an update lately. */
  readonly isWorking: boolean;
}

/** What the attribution has to know of its attempt. What it failed with in company is not counted against it. */
export function toAttempt({
  state,
  failure,
  culprit,
  isWorking,
}: FailedUpdate): Pick<FailedAttempt, 'isFirst' | 'state' | 'kind' | 'afterMs' | 'isWorking'> {
  const { afterMs } = failure;
  if (culprit === null) return { isFirst: false, state: state.retry, kind: 'shared', afterMs, isWorking };
  const isFirst = state.aloneAt === null;
  return { isFirst, state: isFirst ? null : state.retry, kind: kindOf(culprit), afterMs, isWorking };
}

/** What becomes of it by that decision. */
export function toEnd(failed: FailedUpdate, decision: Decision): UpdateEnd {
  const { state, failure, culprit, failedAt } = failed;
  if (decision.do === 'dead_letter') return { do: 'letter', letter: toLetter(failure) };
  const { retry, wait } = { retry: decision.state, wait: waitOf(failed, decision.blame) };
  // What is refused by its id harms no others.
  const aloneAt = failure.reason === 'rejected_by_service' ? null : (culprit?.failedAt ?? null);
  return {
    do: 'later',
    why: wait.why,
    forMs: failure.afterMs === null ? Math.min(decision.forMs, wait.maxMs) : decision.forMs,
    state: { retry, failedAt: state.failedAt ?? failedAt, aloneAt: state.aloneAt ?? aloneAt },
    // Most updates of a batch that was not accepted have done nothing wrong: their positions are not worth a look.
    error: wait.why === 'batch_open' ? '' : failure.reason,
  };
}

export function toLetter({ reason, status, serviceError }: Failure): Letter {
  return {
    reason,
    stage: 'sync',
    ...(status === null ? {} : { httpStatus: status }),
    ...(serviceError === null ? {} : { serviceError }),
  };
}

function kindOf({ failure, isProven }: Omit<Culprit<unknown>, 'member'>): FailedAttempt['kind'] {
  if (failure.verdict === 'rate_limited') return 'rate_limited';
  return isProven && isRefused(failure) ? 'refused' : 'failed';
}

function waitOf(
  { failure, culprit, isWorking }: FailedUpdate,
  blame: Extract<Decision, { do: 'retry' }>['blame'],
): Pick<Extract<UpdateEnd, { do: 'later' }>, 'why'> & { readonly maxMs: number } {
  const service = { why: failure.cause, maxMs: SERVICE_MAX_MS };
  if (blame === 'service') return service;
  if (culprit === null)
    return isWorking && failure.verdict !== 'rate_limited' ? { why: 'batch_open', maxMs: SHARED_MAX_MS } : service;
  if (blame === 'guard') return { why: 'dead_letter_guard', maxMs: Infinity };
  return isWorking || culprit.othersAccepted ? { why: 'record_failing', maxMs: Infinity } : service;
}
