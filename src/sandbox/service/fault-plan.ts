import { type Clock, type Draw } from '../../kernel/clock.ts';
import { brokenAnswer, type BrokenAnswerName } from './broken-answers.ts';
import {
  type AnswerFault,
  type FaultRule,
  type Faults,
  type FaultSettings,
  NO_FAULTS,
  type Only,
  type StatusFault,
  wholeRule,
} from './faults.ts';
import { drawLatency } from './latency.ts';
import { type Operation } from './operation.ts';
import { NO_WEBHOOK_FAULTS, type WebhookFaults } from './webhook-faults.ts';

/** What befalls one request. */
export interface Strike {
  readonly delayMs: number;
  readonly status: StatusFault | null;
  /** How its answer is broken. */
  readonly answer: BrokenAnswerName | null;
  /** The connection is reset instead of an answer. */
  readonly reset: boolean;
  /** False: the service does nothing with it. */
  readonly carriedOut: boolean;
  readonly slowHeadersMs: number;
  readonly slowBodyMs: number;
  readonly dripMs: number;
}

/** A request that nothing befalls. */
export const CALM: Strike = {
  delayMs: 0,
  status: null,
  answer: null,
  reset: false,
  carriedOut: true,
  slowHeadersMs: 0,
  slowBodyMs: 0,
  dripMs: 0,
};

/** Of whom a request speaks. */
export interface Subjects {
  readonly transIds: readonly string[];
  readonly customers: readonly string[];
}

interface Armed {
  readonly rule: FaultRule;
  /** Null: it is for every request. */
  readonly isFor: ((about: Subjects) => boolean) | null;
  readonly untilMs: number;
  left: number;
}

/** The faults in force, and the draw that decides whom they strike. */
export class FaultPlan {
  #faults: Faults = NO_FAULTS;
  #webhooks: WebhookFaults = NO_WEBHOOK_FAULTS;
  #rejects: ReadonlySet<string> = new Set();
  #perId: ReadonlySet<string> = new Set();
  #armed: readonly Armed[] = [];
  readonly #draw: Draw;
  readonly #clock: Pick<Clock, 'monotonicMs'>;

  constructor(draw: Draw, clock: Pick<Clock, 'monotonicMs'>) {
    this.#draw = draw;
    this.#clock = clock;
  }

  get(): Faults {
    return this.#faults;
  }

  webhooks(): WebhookFaults {
    return this.#webhooks;
  }

  /** Replaces all faults: what is not given takes its default. What happens once is not this object's business. */
  set(settings: FaultSettings): void {
    const { expireTokens: _, refuseConnectionsMs: __, dropConnectionsMs: ___, ...faults } = settings;
    this.#faults = { ...NO_FAULTS, ...faults };
    this.#webhooks = { ...NO_WEBHOOK_FAULTS, ...this.#faults.webhooks };
    this.#rejects = new Set(this.#faults.patchRejects);
    this.#perId = new Set(this.#faults.patchPerId?.transIds);
    const rules = [...this.#faults.rules.map(wholeRule), this.#faults];
    const nowMs = this.#clock.monotonicMs();
    this.#armed = rules.filter(doesSomething).map((rule) => arm(rule, nowMs));
  }

  /** What befalls a request: the first rule that matches decides. `subjects` is asked only where a rule needs it. */
  strike(operation: Operation, subjects: () => Subjects): Strike {
    if (this.#armed.length === 0) return CALM;
    let known: Subjects | undefined;
    const about = (): Subjects => (known ??= subjects());
    const armed = this.#armed.find((one) => this.#matches(one, operation, about));
    if (armed === undefined) return CALM;
    armed.left -= 1;
    return this.#strikeOf(armed.rule, operation);
  }

  rejects(transIds: readonly string[]): boolean {
    return this.#rejects.size > 0 && transIds.some((transId) => this.#rejects.has(transId));
  }

  /** Whether the update of this id is to be answered for as not accepted. */
  rejectsAlone(transId: string): boolean {
    return this.#perId.has(transId);
  }

  #matches(armed: Armed, operation: Operation, subjects: () => Subjects): boolean {
    const { rule, left, untilMs, isFor } = armed;
    if (left <= 0 || !rule.operations.includes(operation)) return false;
    if (untilMs !== Infinity && this.#clock.monotonicMs() >= untilMs) return false;
    if (isFor !== null && !isFor(subjects())) return false;
    return rule.share >= 1 || this.#draw() < rule.share;
  }

  #strikeOf(rule: FaultRule, operation: Operation): Strike {
    const { slowHeadersMs, slowBodyMs, dripMs } = rule;
    const delayMs = this.#delayOf(rule);
    const status = this.#hits(rule.status) ? rule.status : null;
    const answer = suits(rule.answer, operation) && this.#hits(rule.answer) ? rule.answer : null;
    const resetBefore = this.#falls(rule.resetBeforeShare);
    return {
      delayMs,
      status,
      answer: answer?.as ?? null,
      reset: resetBefore || this.#falls(rule.resetShare),
      carriedOut: !resetBefore && isCarriedOut(status, answer),
      slowHeadersMs,
      slowBodyMs,
      dripMs,
    };
  }

  #delayOf({ latencyMs, latencyJitterMs, latencyShape }: FaultRule): number {
    const jitterMs = latencyJitterMs === 0 ? 0 : this.#draw() * latencyJitterMs;
    return latencyMs + jitterMs + (latencyShape === null ? 0 : drawLatency(latencyShape, this.#draw));
  }

  #hits(fault: StatusFault | AnswerFault | null): boolean {
    return fault !== null && this.#falls(fault.share ?? 1);
  }

  #falls(share: number): boolean {
    return share >= 1 || (share > 0 && this.#draw() < share);
  }
}

/** Whether a broken answer makes sense for this operation. */
function suits(fault: AnswerFault | null, operation: Operation): boolean {
  if (fault === null) return false;
  const { for: operations } = brokenAnswer(fault.as);
  return operations === undefined || operations.includes(operation);
}

function isCarriedOut(status: StatusFault | null, answer: AnswerFault | null): boolean {
  const told = status?.carriedOut ?? answer?.carriedOut;
  if (told !== undefined) return told;
  if (answer === null) return status === null;
  return (status?.code ?? 200) < 300 && brokenAnswer(answer.as).carriedOut;
}

function arm(rule: FaultRule, nowMs: number): Armed {
  const { only, next, forMs } = rule;
  return {
    rule,
    isFor: only === null ? null : speaksOf(only),
    untilMs: forMs === null ? Infinity : nowMs + forMs,
    left: next ?? Infinity,
  };
}

function speaksOf({ transIds, transIdPrefixes = [], customers }: Only): (about: Subjects) => boolean {
  const [ids, people] = [new Set(transIds), new Set(customers)];
  return (about) =>
    about.transIds.some((id) => ids.has(id) || transIdPrefixes.some((prefix) => id.startsWith(prefix))) ||
    (people.size > 0 && about.customers.some((customer) => people.has(customer)));
}

function doesSomething(rule: FaultRule): boolean {
  const { latencyMs, latencyJitterMs, slowHeadersMs, slowBodyMs, dripMs, resetShare, resetBeforeShare } = rule;
  const sum = latencyMs + latencyJitterMs + slowHeadersMs + slowBodyMs + dripMs + resetShare + resetBeforeShare;
  return sum > 0 || rule.latencyShape !== null || rule.status !== null || rule.answer !== null;
}
