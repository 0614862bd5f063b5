import { type Draw } from '../../kernel/clock.ts';
import { isJsonObject } from './json.ts';

export type Operation = 'score' | 'sync' | 'login';

const OPERATIONS: readonly Operation[] = ['score', 'sync', 'login'];

/** Some requests are answered with this status and not carried out. */
export interface StatusFault {
  readonly code: number;
  /** 0 to 1. */
  readonly share: number;
  /** The value of `Retry-After`, as it is. */
  readonly retryAfter?: string;
}

/** What the service does wrong, on demand. docs/sandbox.md has a row for each. */
export interface Faults {
  /** Before the answer; the request is carried out at once. */
  readonly latencyMs: number;
  /** Up to this much more, evenly drawn. */
  readonly latencyJitterMs: number;
  readonly status: StatusFault | null;
  /** 0 to 1: the connection is reset instead of an answer; the request was carried out. */
  readonly resetShare: number;
  /** Every login is answered with this status; null: as the credentials deserve. */
  readonly loginStatus: number | null;
  /** A PATCH that holds one of these trans_ids is refused with 400. */
  readonly patchRejects: readonly string[];
  /** Between the first half of an answer's body and the second. */
  readonly slowBodyMs: number;
  /** What latency, status, reset and slow body are for. */
  readonly operations: readonly Operation[];
}

/** Faults to set: what is not given takes its default; `expireTokens` ends all tokens now, once. */
export type FaultSettings = Partial<Faults> & { readonly expireTokens?: boolean };

export const NO_FAULTS: Faults = {
  latencyMs: 0,
  latencyJitterMs: 0,
  status: null,
  resetShare: 0,
  loginStatus: null,
  patchRejects: [],
  slowBodyMs: 0,
  operations: ['score', 'sync'],
};

/** What befalls one request. */
export interface Strike {
  readonly delayMs: number;
  readonly status: StatusFault | null;
  readonly reset: boolean;
  readonly slowBodyMs: number;
}

const CALM: Strike = { delayMs: 0, status: null, reset: false, slowBodyMs: 0 };
const LONGEST_MS = 600_000;

const isMs = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= LONGEST_MS;
const isShare = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1;
const isStatus = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599;
const isList = (value: unknown, accepts: (entry: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every((entry) => accepts(entry));

interface Row {
  readonly accepts: (value: unknown) => boolean;
  readonly must: string;
}

const MS: Row = { accepts: isMs, must: 'be milliseconds from 0 to 600000' };
const ROWS: ReadonlyMap<string, Row> = new Map<string, Row>([
  ['latencyMs', MS],
  ['latencyJitterMs', MS],
  ['slowBodyMs', MS],
  ['resetShare', { accepts: isShare, must: 'be a number from 0 to 1' }],
  [
    'status',
    { accepts: isStatusFault, must: 'be null or {code: 200 to 599, share: 0 to 1, retryAfter?: text or number}' },
  ],
  [
    'loginStatus',
    { accepts: (value) => value === null || isStatus(value), must: 'be null or a status from 200 to 599' },
  ],
  [
    'patchRejects',
    { accepts: (value) => isList(value, (entry) => typeof entry === 'string'), must: 'be a list of trans_ids' },
  ],
  [
    'operations',
    {
      accepts: (value) => isList(value, (entry) => OPERATIONS.some((operation) => operation === entry)),
      must: 'be a list of score, sync, login',
    },
  ],
  ['expireTokens', { accepts: (value) => typeof value === 'boolean', must: 'be true or false' }],
]);

/** The settings if every field is known and right, else one sentence that names the field. */
export function readFaults(input: unknown): FaultSettings | string {
  if (!isJsonObject(input)) return 'the body must be a JSON object';
  for (const name of Object.keys(input)) {
    const row = ROWS.get(name);
    if (row === undefined) return `${JSON.stringify(name)} is not a fault; known are ${[...ROWS.keys()].join(', ')}`;
    if (!row.accepts(input[name])) return `${name} must ${row.must}`;
  }
  const status = input['status'];
  if (!isJsonObject(status) || typeof status['retryAfter'] !== 'number') return input;
  return { ...input, status: { ...status, retryAfter: String(status['retryAfter']) } } as FaultSettings;
}

function isStatusFault(value: unknown): boolean {
  if (value === null) return true;
  if (!isJsonObject(value)) return false;
  const { code, share, retryAfter, ...others } = value;
  const isHeader = retryAfter === undefined || typeof retryAfter === 'number' || isHeaderText(retryAfter);
  return isStatus(code) && isShare(share) && isHeader && Object.keys(others).length === 0;
}

function isHeaderText(value: unknown): boolean {
  return typeof value === 'string' && /^[\x20-\x7e]*$/u.test(value);
}

/** The faults in force, and the draw that decides whom they strike. */
export class FaultPlan {
  #faults: Faults = NO_FAULTS;
  #rejects: ReadonlySet<string> = new Set();
  #calm = true;
  readonly #draw: Draw;

  constructor(draw: Draw) {
    this.#draw = draw;
  }

  get(): Faults {
    return this.#faults;
  }

  /** Replaces all faults: what is not given takes its default. */
  set(settings: FaultSettings): void {
    const { expireTokens: _, ...faults } = settings;
    this.#faults = { ...NO_FAULTS, ...faults };
    this.#rejects = new Set(this.#faults.patchRejects);
    const { latencyMs, latencyJitterMs, slowBodyMs, resetShare, status } = this.#faults;
    this.#calm = status === null && latencyMs + latencyJitterMs + slowBodyMs + resetShare === 0;
  }

  strike(operation: Operation): Strike {
    if (this.#calm || !this.#faults.operations.includes(operation)) return CALM;
    const { latencyMs, latencyJitterMs, status, resetShare, slowBodyMs } = this.#faults;
    return {
      delayMs: latencyJitterMs === 0 ? latencyMs : latencyMs + this.#draw() * latencyJitterMs,
      status: status !== null && this.#draw() < status.share ? status : null,
      reset: resetShare > 0 && this.#draw() < resetShare,
      slowBodyMs,
    };
  }

  rejects(transIds: readonly string[]): boolean {
    return this.#rejects.size > 0 && transIds.some((transId) => this.#rejects.has(transId));
  }
}
