import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verify } from '../../../src/reviews/verify.ts';
import { percentile } from '../../bench/statistics.ts';
import { resultOf, type WebhooksFigure } from '../../bench/webhooks.ts';
import { closedLoop, paced, signedRequests } from '../../bench/webhooks-load.ts';
import { SECRET } from '../../support/webhooks.ts';

const OPTIONS = { signatureForms: ['hex'], timestampForms: ['unix_s'], toleranceSeconds: 300 } as const;

describe('what is sent', () => {
  const seen: { readonly isRight: boolean; readonly body: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const isRight = !('refuse' in verify({ rawHeaders: request.rawHeaders, body }, [SECRET], OPTIONS, Date.now()));
      seen.push({ isRight, body: body.toString() });
      response.writeHead(seen.length === 5 ? 503 : 200, { 'content-length': 2 }).end('{}');
    });
  });
  let target = { port: 0, path: '/webhooks', secret: SECRET };

  beforeEach(async () => {
    seen.length = 0;
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    target = { ...target, port: (server.address() as AddressInfo).port };
  });
  afterEach(async () => {
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });

  test.each([
    [
      'as many as go',
      async (all: readonly Buffer[]) => await closedLoop(target.port, all, { connections: 4, seconds: 30 }),
    ],
    [
      'so many a second',
      async (all: readonly Buffer[]) => await paced(target.port, all, { connections: 4, perSecond: 500 }),
    ],
  ])('%s: each once and rightly signed, and an answer other than 200 is a failure', async (_name, load) => {
    const { answered, failed, latenciesMs } = await load(signedRequests(target, 40, 7));
    expect([answered, failed, latenciesMs.length]).toEqual([39, 1, 39]);
    expect(seen.every(({ isRight }) => isRight)).toBe(true);
    expect(new Set(seen.map(({ body }) => body)).size).toBe(40);
  });
});

describe('the result', () => {
  const figure: WebhooksFigure = {
    receiver: 'connector',
    load: 'maximum',
    perSecond: 12_000,
    failed: 0,
    p50Ms: 1,
    p99Ms: 20,
    p999Ms: 30,
    cpuUs: 80,
  };
  const steady: WebhooksFigure = { ...figure, load: 'steady', perSecond: 1000 };

  test('is the round in the middle of each', () => {
    const rounds: WebhooksFigure[] = [
      { ...figure, cpuUs: 70 },
      { ...figure, cpuUs: 90, perSecond: 14_000 },
      { ...figure, cpuUs: 80, perSecond: 13_000 },
    ];
    const { rows, missed } = resultOf([steady, ...rounds]);
    expect(rows.map((row) => row[0])).toEqual(['steady, connector', 'maximum, connector']);
    expect(rows[1]?.[1]).toBe('13000');
    expect(missed).toEqual([]);
  });

  test.each([
    ['a rate that is too low', [steady, { ...figure, perSecond: 11_999 }], '11999 a second'],
    ['a p99 that is too high', [{ ...steady, p99Ms: 20.1 }, figure], 'p99 20.1 ms'],
    ['one that failed', [steady, { ...figure, failed: 1 }], '1 were not answered 200'],
  ])('names %s', (_name, figures, missed) => {
    expect(resultOf(figures).missed).toEqual([expect.stringContaining(missed)]);
  });

  test('counts the bare one for no bar', () => {
    expect(resultOf([{ ...figure, receiver: 'bare' }]).missed).toHaveLength(2);
  });
});

test('a percentile is a value that is there', () => {
  expect(percentile([1, 2, 3, 4], 0.5)).toBe(2);
  expect(percentile([1, 2, 3, 4], 0.99)).toBe(4);
  expect(percentile([], 0.5)).toBe(0);
});
