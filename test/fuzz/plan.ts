import { Dice } from './dice.ts';
import { havoc } from './havoc.ts';
import { malformed } from './malformed.ts';
import { forged, odd, refused, type Request, valid } from './requests.ts';
import { type Endpoint } from './wire.ts';

/** An answer that has to come. */
export interface Expected {
  readonly statuses: readonly number[];
  /** Of the event that has been written when the answer is 200; null: 200 is not allowed. */
  readonly id: string | null;
}

/** All that is sent on one connection, and what may come of it. */
export interface Plan {
  /** Of the seed: enough to make it again. */
  readonly index: number;
  /** What is special about it. */
  readonly kind: string;
  readonly bytes: Buffer;
  /** Where the bytes are cut into writes, ascending. */
  readonly cuts: readonly number[];
  /** `wait`: for all answers, or for the server to end the connection. `fin`: nothing more is sent, answers are waited for. `reset`: at once. */
  readonly end: 'wait' | 'fin' | 'reset';
  /** In order. */
  readonly answers: readonly Expected[];
  /** Something in it may end the connection early, or be read as more or fewer requests than was meant. */
  readonly open: boolean;
  /** Ids of what a sender has signed and may be written, answered or not. */
  readonly mayBeWritten: readonly string[];
  readonly requests: number;
}

/** `orderly`: only whole requests that leave the connection as it is, so that everything can be counted. */
export type Manner = 'orderly' | 'wild';

function lot(count: number, make: () => Request): Request[] {
  return Array.from({ length: count }, make);
}

/** The plan of one connection; the same for the same seed, index and endpoint. */
export function planOf(seed: number, index: number, manner: Manner, endpoint: Endpoint): Plan {
  const dice = new Dice(seed, index);
  let made = 0;
  const next = (mark: string): string => {
    made += 1;
    return `${mark}-${seed.toString(36)}-${index.toString(36)}-${String(made)}`;
  };
  const whole = (): Request => dice.pick([valid, valid, forged, forged, odd])(dice, next, endpoint);
  const cause = { index, dice };
  if (manner === 'orderly') {
    const requests = lot(dice.between(1, 12), whole);
    return toPlan(cause, dice.chance(0.1) ? [...requests, ...requests] : requests);
  }
  const before = lot(dice.pick([0, 0, 0, 1, 2, 5]), whole);
  const behind = lot(dice.pick([0, 0, 1, 2]), () => valid(dice, next, endpoint));
  const roll = dice.below(100);
  if (roll < 35) return toPlan(cause, [...before, malformed(dice, next, endpoint), ...behind]);
  if (roll < 55) return toPlan(cause, [...before, refused(dice, next, endpoint), ...behind]);
  if (roll < 65) return toPlan(cause, [...before, whole()]);
  const base = lot(dice.between(1, 3), () => dice.pick([valid, valid, valid, odd])(dice, next, endpoint));
  const changed = havoc(dice, Buffer.concat(base.map(({ bytes }) => bytes)));
  return {
    ...toPlan(cause, base),
    bytes: changed,
    cuts: cutsOf(dice, changed.length),
    kind: 'havoc',
    answers: [],
    open: true,
    end: dice.chance(0.03) ? 'wait' : dice.pick(['fin', 'fin', 'fin', 'reset']),
  };
}

function toPlan({ index, dice }: { readonly index: number; readonly dice: Dice }, requests: readonly Request[]): Plan {
  const bytes = Buffer.concat(requests.map((request) => request.bytes));
  const ending = requests.findIndex(({ ends }) => ends);
  const answered = ending === -1 ? requests : requests.slice(0, ending + 1);
  return {
    index,
    kind: requests[ending === -1 ? requests.length - 1 : ending]?.kind ?? '',
    bytes,
    cuts: cutsOf(dice, bytes.length),
    end: ending === -1 ? 'wait' : dice.pick(['wait', 'wait', 'fin', 'fin', 'reset']),
    answers: answered.map(({ statuses, id }) => ({ statuses, id })),
    open: ending !== -1,
    mayBeWritten: requests.flatMap(({ id }) => (id === null ? [] : [id])),
    requests: requests.length,
  };
}

function cutsOf(dice: Dice, length: number): number[] {
  if (dice.chance(0.6) || length === 0) return [];
  // Byte by byte around one place, or a few pieces.
  const from = dice.below(length);
  const cuts = dice.chance(0.2)
    ? Array.from({ length: Math.min(40, length - from) }, (_, offset) => from + offset)
    : Array.from({ length: dice.between(1, 6) }, () => dice.below(length));
  return [...new Set(cuts)].sort((one, other) => one - other);
}
