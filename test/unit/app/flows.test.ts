import { expect, test } from 'vitest';
import { wireFlows } from '../../../src/app/flows.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { type Exchange } from '../../../src/resilience/ports.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const REFUSED: Exchange = { do: 'answer', status: 429, retryAfterMs: 1_000, body: Buffer.from('{}'), latencyMs: 1 };

const RECORD = {
  topic: 'payments.created',
  partition: 0,
  offset: 0n,
  timestampMs: 0,
  key: null,
  value: Buffer.from('{"trans_id":"t-1"}'),
  headers: {},
};

/** Reads the payment and makes one step with it. */
async function scoreOne({ byTopic }: ReturnType<typeof wireFlows>): Promise<void> {
  const flow = byTopic.get(RECORD.topic);
  const reading = flow?.read(RECORD);
  const item = reading?.do === 'item' ? reading.item : null;
  const job = { record: RECORD, item, attempt: 1, carry: undefined, lane: 't-1', ordinal: 0 };
  await flow?.run({ ...job, tenure: { epoch: 1, phase: 'owned' } });
}

/** Scoring and sync, wired against a service that has too much to do unless it is told what it answers. */
function wired(env: Readonly<Record<string, string>>, exchange = REFUSED): ReturnType<typeof wireFlows> {
  const answer = async (): Promise<Exchange> => await Promise.resolve(exchange);
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
  const flows = wired({ SCORING_LIMIT: 'adaptive', SCORING_CONCURRENCY: '10' });
  const limits = (): readonly (number | null)[] => [...flows.gates.values()].map((gate) => gate.report().limit);
  expect(limits()).toEqual([10, null]);
  const flow = flows.byTopic.get(RECORD.topic);
  expect(flow?.room(0)).toBe(10);
  await scoreOne(flows);
  expect(limits()).toEqual([8, null]);
  expect(flow?.room(0)).toBe(8);
});

test('without it requests at once are SCORING_CONCURRENCY, always', () => {
  const { byTopic, gates } = wired({ SCORING_CONCURRENCY: '10' });
  expect([...gates.values()].map((gate) => gate.report().limit)).toEqual([null, null]);
  expect(byTopic.get('payments.created')?.room(0)).toBe(10);
});

test('what became of a transaction is remembered where its updates are sent, and nowhere else', async () => {
  const scored: Exchange = { do: 'answer', status: 200, retryAfterMs: null, body: Buffer.from('{}'), latencyMs: 1 };
  const [both, alone] = [wired({}, scored), wired({ FLOWS: 'scoring' }, scored)];
  for (const flows of [both, alone]) await scoreOne(flows);
  expect(both.alignment.fact('t-1')).toMatchObject({ do: 'scored' });
  expect(alone.alignment.fact('t-1')).toBeNull();
});
