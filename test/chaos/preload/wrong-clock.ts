/**
 * Gives a process a wall clock that can be wrong: `--import …/wrong-clock.ts?file=PATH`. At SIGUSR2 the file is read: the
 * milliseconds by which `Date` is off from then on. What runs monotonically (timers, `performance`) stays right, as it
 * does where somebody sets a machine's clock.
 */
import { readFileSync } from 'node:fs';

const file = new URL(import.meta.url).searchParams.get('file') ?? '';
const RealDate = Date;
let offByMs = 0;

const nowMs = (): number => RealDate.now() + offByMs;

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(nowMs()).toString(),
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [nowMs()] : args, newTarget) as object,
  get: (target, name, receiver): unknown => (name === 'now' ? nowMs : Reflect.get(target, name, receiver)),
});

process.on('SIGUSR2', () => {
  offByMs = Number(readFileSync(file, 'utf8'));
});
