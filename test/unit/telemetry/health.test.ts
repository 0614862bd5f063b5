import { describe, expect, test } from 'vitest';
import { type EngineStatus } from '../../../src/engine/ports.ts';
import { Health } from '../../../src/telemetry/health.ts';
import { engineStatus } from '../../support/engine-status.ts';
import { ManualClock } from '../../support/manual-clock.ts';

function health(flows = ['scoring', 'sync', 'reviews'], status: () => EngineStatus | null = () => engineStatus()) {
  const clock = new ManualClock();
  return { clock, made: new Health({ version: '1.2.3', account: 'shop', flows: new Set(flows), clock, status }) };
}

const ready = { afterMs: 10 };
const joined = { owned: 3, gained: 3, lost: 0, afterMs: 40 };
const down = { cause: 'service_down', scope: 'scoring', error: '' } as const;

describe('Health', () => {
  test('is alive but not ready before everything is open', () => {
    const { made } = health();
    expect([made.live(), made.ready(), made.readyOf('scoring'), made.readyOf('reviews')]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  test('takes webhooks as soon as it is open, joined or not', () => {
    const { made } = health();
    made.emit('ready', ready);
    expect([made.ready(), made.readyOf('reviews'), made.readyOf('scoring')]).toEqual([true, true, false]);
  });

  test('waits for the group where no webhooks are taken', () => {
    const { made } = health(['scoring', 'sync']);
    made.emit('ready', ready);
    expect(made.ready()).toBe(false);
    made.emit('partitions_assigned', joined);
    expect(made.ready()).toBe(true);
    expect(made.readyOf('reviews')).toBeNull();
  });

  test('a hold makes its flow unready, not the process, and never kills it', () => {
    const { made } = health();
    made.emit('ready', ready);
    made.emit('partitions_assigned', joined);
    made.emit('hold_started', down);
    expect([made.readyOf('scoring'), made.readyOf('sync'), made.ready(), made.live()]).toEqual([
      false,
      true,
      true,
      true,
    ]);
    made.emit('hold_ended', { cause: 'service_down', scope: 'scoring', afterMs: 5 });
    expect(made.readyOf('scoring')).toBe(true);
  });

  test('no flow that reads is ready while commits fail for long: nothing new starts', () => {
    const { made } = health();
    made.emit('ready', ready);
    made.emit('partitions_assigned', joined);
    made.emit('hold_started', { cause: 'kafka', scope: 'commit', error: '' });
    expect([made.readyOf('scoring'), made.readyOf('sync'), made.readyOf('reviews')]).toEqual([false, false, true]);
    made.emit('hold_ended', { cause: 'kafka', scope: 'commit', afterMs: 5 });
    expect(made.readyOf('scoring')).toBe(true);
  });

  test.each(['record_failing', 'dead_letter_guard'] as const)(
    'a flow stays ready while only some records wait (%s), and the report says that they are some',
    (cause) => {
      const { made } = health(['scoring'], () => engineStatus());
      made.emit('ready', ready);
      made.emit('partitions_assigned', joined);
      const position = 'payments.created:3:41';
      made.emit('hold_started', { cause, scope: 'scoring', error: 'status_403', position });
      expect(made.readyOf('scoring')).toBe(true);
      expect(made.status().holds).toMatchObject([{ cause, partial: true, position }]);
      made.emit('hold_started', { ...down, scope: 'scoring breaker' });
      expect(made.readyOf('scoring')).toBe(false);
      expect(made.status().holds[1]).toMatchObject({ partial: false, position: null });
    },
  );

  test.each([
    ['kafka', [false, false, false]],
    ['registry', [false, false, true]],
    ['service_down', [false, false, true]],
  ] as const)('no flow that needs it is ready while %s answers no probe', (cause, readyOf) => {
    const { made } = health();
    made.emit('ready', ready);
    made.emit('partitions_assigned', joined);
    made.emit('hold_started', { cause, scope: 'probe', error: 'timeout' });
    expect(['scoring', 'sync', 'reviews'].map((flow) => made.readyOf(flow))).toEqual(readyOf);
    expect([made.ready(), made.live()]).toEqual([true, true]);
    made.emit('hold_ended', { cause, scope: 'probe', afterMs: 5 });
    expect(['scoring', 'sync', 'reviews'].map((flow) => made.readyOf(flow))).toEqual([true, true, true]);
  });

  test('counts webhooks by what became of them, and nothing of them where none are taken', () => {
    const { made } = health();
    made.emit('ready', ready);
    const results = [
      'published',
      'published',
      'duplicate',
      'parked',
      'unavailable',
      'bad_signature',
      'bad_signature',
    ] as const;
    for (const result of results) made.emit('webhook', { result, status: 0, afterMs: 1 });
    expect(made.status().reviews).toEqual({
      ready: true,
      accepted: 4,
      published: 2,
      duplicate: 1,
      parked: 1,
      unavailable: 1,
      refused: { bad_signature: 2 },
    });
    expect(health(['scoring']).made.status().reviews).toBeNull();
  });

  test('a flow is not ready while its engine joins', () => {
    const { made } = health(['scoring'], () => engineStatus({ phase: 'joining' }));
    made.emit('ready', ready);
    made.emit('partitions_assigned', joined);
    expect(made.readyOf('scoring')).toBe(false);
  });

  test('is unready from the moment it stops, and does not come back', () => {
    const { made } = health();
    made.emit('ready', ready);
    made.emit('stopping', { signal: 'SIGTERM' });
    made.emit('ready', ready);
    expect([made.ready(), made.live(), made.status().phase]).toEqual([false, true, 'stopping']);
    made.emit('stopped', { afterMs: 5, unfinished: 0 });
    made.emit('stopping', { signal: 'SIGTERM' });
    expect(made.status().phase).toBe('stopped');
  });

  test('a fault ends it for good', () => {
    const { made } = health();
    made.emit('fatal', { code: 'INTERNAL', message: '' });
    made.emit('stopping', { signal: 'SIGTERM' });
    expect([made.live(), made.status().phase]).toEqual([false, 'failed']);
  });

  test('says of each hold what it means, how to mend it and for how long it has lasted', () => {
    const { made, clock } = health();
    made.emit('hold_started', down);
    clock.advance(1500);
    made.emit('hold_started', down);
    expect(made.status().holds).toMatchObject([
      { cause: 'service_down', scope: 'scoring', ageMs: 1500, records: null },
    ]);
    expect(made.status().holds[0]?.mend).toContain('service');
  });

  test('names what went wrong by class and code, and nothing else of it', () => {
    const { made } = health();
    const error = 'Kafka at kafka-1.shop.example:9092: topics failed: KafkaJSConnectionError ECONNREFUSED.';
    made.emit('hold_started', { cause: 'kafka', scope: 'start', error });
    made.emit('hold_started', { cause: 'start_position', scope: 't', error: 'group G7 is new: 12 records' });
    expect(made.status().holds.map((hold) => hold.error)).toEqual(['KafkaJSConnectionError ECONNREFUSED', null]);
  });

  test('reports in plain JSON: offsets as texts, waits with their age', () => {
    const big = 2n ** 60n;
    const status = engineStatus({
      flow: {
        heldLanes: 9,
        waits: [{ cause: 'registry', records: 4, sinceMs: 200, error: 'timeout', position: null }],
      },
      partition: { next: big, committable: big - 2n, committed: big - 3n, highWatermark: big, oldestUnfinishedMs: 0 },
    });
    const { made, clock } = health(['scoring'], () => status);
    clock.advance(1000);
    const report = JSON.parse(JSON.stringify(made.status())) as Record<string, unknown>;
    expect(report).toMatchObject({
      version: '1.2.3',
      account: 'shop',
      engine: 'running',
      upForMs: 1000,
      flows: [
        { name: 'scoring', heldKeys: 9, waits: [{ cause: 'registry', records: 4, ageMs: 800, error: 'timeout' }] },
      ],
      partitions: [{ next: '1152921504606846976', committed: '1152921504606846973', lag: '3' }],
    });
  });

  test('says what a kill would do a second time at most', () => {
    const status = engineStatus({ flow: { inFlight: 2, answered: 1, unsaved: 3, unsavedSinceMs: 0 } });
    const { made, clock } = health(['scoring'], () => status);
    clock.advance(70);
    expect(made.status().duplicateBound).toEqual([
      { flow: 'scoring', records: 6, inFlight: 2, answered: 1, unsaved: 3, unsavedForMs: 70 },
    ]);
  });

  test('reports without an engine, too', () => {
    const { made } = health(['reviews'], () => null);
    expect(made.status()).toMatchObject({ engine: null, flows: [], partitions: [] });
  });
});
