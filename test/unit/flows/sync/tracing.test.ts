import { expect, test } from 'vitest';
import { type Exchange } from '../../../../src/resilience/ports.ts';
import { settled } from '../../../support/manual-clock.ts';
import { ToldTracing, toldParent } from '../../../support/told-tracing.ts';
import { answer, approved, job, record, rig } from './builders.ts';

function traced(answers: Exchange[]): {
  readonly tracing: ToldTracing;
  readonly headers: (readonly string[] | undefined)[];
  readonly send: (...ids: readonly string[]) => Promise<void>;
} {
  const tracing = new ToldTracing();
  const headers: (readonly string[] | undefined)[] = [];
  const api = {
    sync: async (_body: Buffer, own?: readonly string[]) => {
      headers.push(own);
      return await Promise.resolve(answers.shift() ?? answer(200));
    },
  };
  const { flow } = rig({ api, tracing });
  const send = async (...ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      const source = record(approved(id));
      void flow.run(job(flow, source, id === 'untraced' ? {} : { span: tracing.record('sync', source) }));
    }
    await settled();
  };
  return { tracing, headers, send };
}

test('a batch names its updates, and the request names the batch', async () => {
  const { tracing, headers, send } = traced([]);
  await send('a', 'untraced', 'b');
  expect(tracing.linked).toEqual([
    [{ traceparent: toldParent(1), tracestate: null }, null, { traceparent: toldParent(2), tracestate: null }],
  ]);
  expect(headers).toEqual([['traceparent', toldParent(3)]]);
  expect(tracing.told.at(-1)).toBe('batch 200 null');
});

test('each part of a batch that is halved has a span of its own', async () => {
  const { tracing, send } = traced([answer(400), answer(422), answer(200)]);
  await send('a', 'b', 'c');
  expect(tracing.linked.map((updates) => updates.length)).toEqual([3, 2, 1, 1, 1]);
  expect(tracing.told.filter((line) => line.startsWith('batch'))).toEqual([
    'batch 400 status_400',
    'batch 422 status_422',
    'batch 200 null',
    'batch 200 null',
    'batch 200 null',
  ]);
});

test.each<[Exchange, string]>([
  [{ do: 'failed', why: 'timeout', ambiguous: true }, 'batch null timed_out'],
  [{ do: 'failed', why: 'reset', ambiguous: true }, 'batch null connection_failed'],
  [{ do: 'fenced' }, 'batch null kafka'],
  [answer(503), 'batch 503 status_503'],
  [answer(429), 'batch 429 status_429'],
])('case %#: a batch without a decision says why', async (exchange, expected) => {
  const { tracing, send } = traced([exchange]);
  await send('a', 'b', 'c');
  expect(tracing.told.at(-1)).toBe(expected);
});

test('without tracing a batch says nothing of traces: it has many updates', async () => {
  const headers: unknown[] = [];
  const { flow } = rig({
    api: {
      sync: async (_body: Buffer, own?: readonly string[]) => {
        headers.push(own);
        return await Promise.resolve(answer(200));
      },
    },
  });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  for (const id of ['a', 'b', 'c']) void flow.run(job(flow, record(approved(id), { headers: { traceparent } })));
  await settled();
  expect(headers).toEqual([undefined]);
});
