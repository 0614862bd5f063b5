import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HoldCause } from '../../src/kernel/outcome.ts';
import { type IllRun } from './ill-stage.ts';
import { type BenchResult } from './result.ts';

const UPDATES = 10_000;
const LIMIT_SECONDS = 300;

/** What came of one part. */
export interface PoisonFigures {
  readonly part: string;
  /** Updates that were to be delivered in it. */
  readonly updates: number;
  readonly delivered: number;
  readonly calls: number;
  readonly letters: number;
  /** What sync waited for while it lasted. */
  readonly holds: readonly HoldCause[];
  readonly seconds: number;
}

/** One poison among 10,000 updates; then a service that refuses every update for a time; then its health. */
export async function poison(run: IllRun): Promise<BenchResult> {
  const { stage, well, minutes, signal } = run;
  const [good, all] = [UPDATES - 1, UPDATES];
  await pay(run);
  stage.service.faults.set({ ...well, patchRejects: [stage.till.transIdOf(UPDATES / 2)] });
  const parts = [await part(run, { name: 'one poison', updates: all, isOver: ({ delivered }) => delivered >= good })];
  stage.service.faults.set(well);
  await pay(run);
  stage.service.faults.set({ ...well, operations: ['sync'], status: { code: 400 } });
  const untilMs = performance.now() + 60_000 * minutes;
  parts.push(
    await part(run, { name: 'all refused', updates: 0, isOver: () => performance.now() > untilMs || signal.aborted }),
  );
  stage.service.faults.set(well);
  const refused = parts[1]?.letters ?? 0;
  parts.push(
    await part(run, { name: 'well again', updates: all, isOver: ({ delivered }) => delivered >= all - refused }),
  );
  await stage.end();
  return resultOf(parts);
}

async function pay({ stage, say, signal }: IllRun): Promise<void> {
  await stage.till.pay(UPDATES);
  const { payments } = stage.till;
  while (stage.service.ledger().summary().transactions < payments && stage.isAlive() && !signal.aborted)
    await sleep(100);
  say(`${String(payments)} payments are scored.`);
}

interface Part {
  readonly name: string;
  readonly updates: number;
  readonly isOver: (so: { readonly delivered: number }) => boolean;
}

async function part({ stage, say, signal }: IllRun, { name, updates, isOver }: Part): Promise<PoisonFigures> {
  const [before, lettersBefore, fromMs] = [stage.service.ledger().summary(), await stage.letters(), performance.now()];
  const holds = new Set<HoldCause>();
  await stage.till.report();
  const deliveredNow = (): number => stage.service.ledger().summary().linked - before.linked;
  while (!isOver({ delivered: deliveredNow() }) && performance.now() - fromMs < 1000 * LIMIT_SECONDS) {
    if (!stage.isAlive()) throw new Error('the connector has ended by itself');
    if (signal.aborted) break;
    const sync = (await stage.status())?.flows.find((flow) => flow.name === 'sync');
    for (const { cause } of sync?.waits ?? []) holds.add(cause);
    await sleep(200);
  }
  const seconds = (performance.now() - fromMs) / 1000;
  // A letter is written when the search has ended.
  await sleep(1000);
  const calls = stage.service.ledger().summary().batches - before.batches;
  const letters = (await stage.letters()) - lettersBefore;
  say(`${name}: over.`);
  return { part: name, updates, delivered: deliveredNow(), calls, letters, holds: [...holds], seconds };
}

/** Bisecting 1 of 100 takes 2·⌈log2 100⌉ calls; batches hold 100 and may be half full. */
const CALLS_FOR_ONE = 14;
/** Of a service that refuses everything from one moment on: first attempts of 20 keys that fail in a row open the breaker. */
export const LETTERS_MOST = 20;

/** The parts as a table, with a sentence for each that is not as it must be. */
export function resultOf(parts: readonly PoisonFigures[]): BenchResult {
  const [one, all, again] = parts;
  const missed: string[] = [];
  if (one !== undefined) {
    if (one.delivered !== one.updates - 1) missed.push(`one poison: ${String(one.delivered)} delivered`);
    if (one.letters !== 1) missed.push(`one poison: ${String(one.letters)} letters, must be 1`);
    const most = one.updates / 50 + CALLS_FOR_ONE;
    if (one.calls > most) missed.push(`one poison: ${String(one.calls)} calls, at most ${String(most)}`);
  }
  if (all !== undefined) {
    if (all.letters > LETTERS_MOST)
      missed.push(`all refused: ${String(all.letters)} letters, at most ${String(LETTERS_MOST)}`);
    if (!all.holds.some((hold) => hold === 'dead_letter_guard' || hold === 'service_refuses'))
      missed.push('all refused: no hold');
    if (again !== undefined && again.delivered !== again.updates - all.letters)
      missed.push(`well again: ${String(again.delivered)} delivered`);
  }
  if (again !== undefined && again.letters > 0) missed.push(`well again: ${String(again.letters)} letters, must be 0`);
  return {
    columns: ['part', 'updates', 'delivered', 'calls', 'letters', 's', 'waited for'],
    rows: parts.map((each) => [
      each.part,
      String(each.updates),
      String(each.delivered),
      String(each.calls),
      String(each.letters),
      each.seconds.toFixed(1),
      each.holds.join(' '),
    ]),
    figures: parts,
    missed,
  };
}
