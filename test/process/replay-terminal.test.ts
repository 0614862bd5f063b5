import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { onTerminal, type OnTerminal } from '../support/pseudo-terminal.ts';

const CTRL_C = '\u0003';
const CLEAR = '\r\u001B[2K';
const UPDATES = 300;

let world: PaymentWorld;
let replay: OnTerminal | null = null;
beforeEach(async () => {
  world = await PaymentWorld.open({ ...inject('kafka'), env: { FLOWS: 'sync' } });
});
afterEach(async () => {
  replay?.kill();
  await world.close();
});

describe('a replay on a terminal', () => {
  test('draws one bar in one line; Ctrl-C lets what is under way end, and says how to go on', async () => {
    const records = Array.from({ length: UPDATES }, (_, index) => {
      const id = `tx-${String(index)}`;
      return { key: id, value: { trans_id: id, status: 'payment_pending', ts: '2026-03-01T09:30:00Z' } };
    });
    await world.send(world.topics.authorized, ...records);
    const onScreen = onTerminal('replay --id bar --rate 50', world.env);
    replay = onScreen;
    await eventually('a bar', () => /Sending {2}.*█.*\d+ of 300 {2}\d+\/s {2}.* left/.test(onScreen.shown()), 40_000);
    onScreen.press(CTRL_C);
    expect(await onScreen.ended).toBe(1);
    const shown = onScreen.shown();
    expect(shown).toContain('Stopping: what is under way may end.');
    expect(shown).toMatch(
      /Resume it with: fraud-connector replay --id bar --topic \S+ --from earliest --to latest\r?\n/,
    );
    expect(shown).toContain('Replay bar of');
    expect(shown).toContain('was stopped before its end.');
    // Each line but the bar stands alone, and no event is in between that is not a warning or the audit.
    for (const line of shown.split('\n')) expect(line.slice(line.lastIndexOf(CLEAR) + 1)).not.toMatch(/█.*\r?$/);
    const events = [...shown.matchAll(/"event":"(\w+)"/g)].map(([, event]) => event);
    expect(new Set(events)).toEqual(new Set(['audit']));
    const { updates } = world.service.ledger().summary();
    expect(updates).toBeGreaterThan(0);
    expect(updates).toBeLessThan(UPDATES);
  });
});
