import { afterEach, describe, expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { onTerminal, type OnTerminal } from '../support/pseudo-terminal.ts';

const HIDE_CURSOR = '\u001B[?25l';
const SHOW_CURSOR = '\u001B[?25h';
const LEAVE_SCREEN = '\u001B[?1049l';
const KEYS = 'poison record';
const CTRL_C = '\u0003';

let demo: OnTerminal | null = null;

afterEach(() => {
  demo?.kill();
});

function startDemo(): OnTerminal {
  const { brokers, registryUrl } = inject('kafka');
  demo = onTerminal('demo --rate 20', { KAFKA_BROKERS: brokers.join(','), SCHEMA_REGISTRY_URL: registryUrl });
  return demo;
}

describe('the demo on a terminal', () => {
  test('draws a live picture, does what keys say, and gives the terminal back with exit code 0', async () => {
    const live = startDemo();
    await eventually('the picture', () => live.shown().includes(KEYS), 40_000);
    live.press('p');
    await eventually('the answer to a key', () => live.shown().includes('it becomes a dead letter'), 5_000);
    live.press('q');
    expect(await live.ended).toBe(0);
    const shown = live.shown();
    expect(shown.split(HIDE_CURSOR)).toHaveLength(2);
    expect(shown.lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(shown.lastIndexOf(HIDE_CURSOR));
    const after = shown.slice(shown.lastIndexOf(LEAVE_SCREEN));
    expect(after).toMatch(/1 poison records\s+1 in a dead-letter topic/);
    expect(after).toContain('Everything is as promised.');
  });

  test('a second Ctrl-C ends it at once, exit code 1, and still gives the cursor back', async () => {
    const live = startDemo();
    // A connector that does not run yet ends so soon that a second Ctrl-C finds nobody.
    await eventually('a connector that runs', () => /running.*, process/.test(live.shown()), 40_000);
    live.press(CTRL_C);
    await eventually('the end', () => live.shown().includes('shops are closed'), 5_000);
    live.press(CTRL_C);
    expect(await live.ended).toBe(1);
    const shown = live.shown();
    expect(shown.lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(shown.lastIndexOf(HIDE_CURSOR));
    expect(shown).toContain(LEAVE_SCREEN);
  });
});
