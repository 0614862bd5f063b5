import { expect, test } from 'vitest';
import { wireFlows } from '../../../src/app/flows.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { type Exchange } from '../../../src/resilience/ports.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const REFUSED: Exchange = { do: 'answer', status: 429, retryAfterMs: 1_000, body: Buffer.from('{}'), latencyMs: 1 };

async function answer(): Promise<Exchange> {
  return await Promise.resolve(REFUSED);
}

/** Scoring and sync, wired against a service that has too much to do. */
function wired(env: Readonly<Record<string, string>>): ReturnType<typeof wireFlows> {
  const { config } = loadConfig({
    env: {
      FLOWS: 'scoring,sync',
      KAFKA_BROKERS: 'localhost:9092',
      SCHEMA_REGISTRY_URL: 'http://localhost:8081',
      SERVICE_BASE_URL: 'http://localhost:8090',
      SERVICE_USERNAME: 'shop',
      SERVICE_PASSWORD: 'made-up-password',
      ...env,
    },
    readFile: () => '',
  });
  return wireFlows(
    {
      config,
      mapping: { scoring: null, sync: null },
      registry: { decoder: () => ({ decode: () => ({ do: 'needs', schema: 1 }) }) },
      writer: { write: async () => await Promise.resolve({ do: 'written', partition: 0, offset: 0n }) },
      scoreEncoder: { encode: () => Buffer.alloc(0) },
      clock: new ManualClock(),
      draw: () => 0,
      emit: () => undefined,
    },
    { score: answer, sync: answer },
  );
}

test('SCORING_LIMIT=adaptive gives scoring, and scoring alone, a limit of SCORING_CONCURRENCY that falls on overload', async () => {
  const { byTopic, gates } = wired({ SCORING_LIMIT: 'adaptive', SCORING_CONCURRENCY: '10' });
  const limits = (): readonly (number | null)[] => [...gates.values()].map((gate) => gate.report().limit);
  expect(limits()).toEqual([10, null]);
  const flow = byTopic.get('payments.created');
  expect(flow?.room(0)).toBe(10);
  const record = {
    topic: 'payments.created',
    partition: 0,
    offset: 0n,
    timestampMs: 0,
    key: null,
    value: Buffer.from('{"trans_id":"t-1"}'),
    headers: {},
  };
  const reading = flow?.read(record);
  const item = reading?.do === 'item' ? reading.item : null;
  await flow?.run({ record, item, attempt: 1, carry: undefined, tenure: { epoch: 1, phase: 'owned' } });
  expect(limits()).toEqual([8, null]);
  expect(flow?.room(0)).toBe(8);
});

test('without it requests at once are SCORING_CONCURRENCY, always', () => {
  const { byTopic, gates } = wired({ SCORING_CONCURRENCY: '10' });
  expect([...gates.values()].map((gate) => gate.report().limit)).toEqual([null, null]);
  expect(byTopic.get('payments.created')?.room(0)).toBe(10);
});
