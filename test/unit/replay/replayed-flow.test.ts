import { describe, expect, test } from 'vitest';
import { type Job, type SourceRecord } from '../../../src/engine/ports.ts';
import { type SkipRule } from '../../../src/kernel/outcome.ts';
import { ReplayedFlow } from '../../../src/replay/replayed-flow.ts';
import { TokenBucket } from '../../../src/resilience/token-bucket.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedFlow } from '../../support/scripted-flow.ts';

const RECORD: SourceRecord = {
  topic: 't',
  partition: 0,
  offset: 0n,
  timestampMs: 0,
  key: Buffer.from('id'),
  value: Buffer.from('v'),
  headers: {},
};
const JOB: Job<string, unknown> = {
  record: RECORD,
  item: 'v',
  attempt: 1,
  carry: undefined,
  tenure: { epoch: 1, phase: 'owned' },
  lane: 'id',
  ordinal: 0,
};
const LETTER = { do: 'dead_letter', letter: { reason: 'ts_invalid', stage: 'read' } } as const;

function replayed(change: { rate?: number; rule?: SkipRule; unread?: 'letter' | SkipRule } = {}) {
  const clock = new ManualClock();
  const inner = new ScriptedFlow();
  inner.answer = () => ({ do: 'delivered' });
  const sent: string[] = [];
  let changes = 0;
  const flow = new ReplayedFlow<string, unknown>({
    flow: inner,
    refuses: () => change.rule ?? null,
    unread: change.unread ?? 'letter',
    onSend: (transId) => sent.push(transId),
    bucket: change.rate === undefined ? null : new TokenBucket(change.rate, clock.monotonicMs()),
    clock,
  });
  flow.attach({
    wake: () => undefined,
    hurry: () => undefined,
    changed: () => {
      changes += 1;
    },
    failingFill: () => 0,
    position: () => null,
    oldestHeldMs: () => null,
  });
  return { flow, inner, clock, sent, changes: () => changes };
}

describe('a replayed flow', () => {
  test('has no room before it is open, and says so when it is', () => {
    const { flow, changes } = replayed();
    expect(flow.room(0)).toBe(0);
    flow.open();
    flow.open();
    expect(flow.room(0)).toBe(64);
    expect(changes()).toBe(1);
  });

  test('passes over what it refuses, by the rule', () => {
    expect(replayed({ rule: 'newer_exists' }).flow.read(RECORD)).toEqual({ do: 'skip', rule: 'newer_exists' });
    expect(replayed().flow.read(RECORD)).toEqual({ do: 'item', item: 'v' });
  });

  test('makes a letter of what cannot be read, or passes it over where it was not asked for', () => {
    const asked = replayed();
    asked.inner.readings = () => LETTER;
    expect(asked.flow.read(RECORD)).toEqual(LETTER);
    const other = replayed({ unread: 'out_of_range' });
    other.inner.readings = () => LETTER;
    expect(other.flow.read(RECORD)).toEqual({ do: 'skip', rule: 'out_of_range' });
  });

  test('tells of an id before its update leaves', async () => {
    const { flow, inner, sent } = replayed();
    inner.onRun = () => {
      expect(sent).toEqual(['id']);
    };
    expect(await flow.run(JOB)).toEqual({ do: 'delivered' });
    expect.assertions(2);
  });

  test('keeps to its rate, and says when there is room again', async () => {
    const { flow, clock } = replayed({ rate: 10 });
    flow.open();
    expect(flow.room(clock.monotonicMs())).toBe(1);
    await flow.run(JOB);
    expect(flow.room(clock.monotonicMs())).toBe(0);
    expect(flow.due(clock.monotonicMs())).toBe(clock.monotonicMs() + 100);
    clock.advance(100);
    // Nobody has asked since.
    expect(flow.due(clock.monotonicMs() - 1)).not.toBeNull();
    expect(flow.room(clock.monotonicMs())).toBe(1);
  });

  test('is called again when its own flow wants to be', () => {
    const { flow, inner } = replayed({ rate: 10 });
    inner.dueMs = 42;
    expect(flow.due(0)).toBe(42);
    flow.tick(42);
    flow.barrier('stop');
    expect(inner.ticks).toEqual([42]);
    expect(inner.barriers).toEqual(['stop']);
  });
});
