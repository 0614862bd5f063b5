import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { Latencies } from '../../../../src/app/demo/latencies.ts';
import { Observer } from '../../../../src/app/demo/observer.ts';
import { Ledger } from '../../../../src/sandbox/service/ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

let server: Server | null = null;

afterEach(() => {
  server?.close();
  server = null;
});

/** A connector's operations port that answers these paths. */
async function answering(answers: Readonly<Record<string, string>>): Promise<string> {
  const listening = createServer((request, response) => {
    const answer = answers[request.url ?? ''];
    response.writeHead(answer === undefined ? 503 : 200, { connection: 'close' }).end(answer);
  });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${String((listening.address() as AddressInfo).port)}`;
}

function observe(opsUrl: string, kills = 0) {
  const clock = new ManualClock();
  const ledger = new Ledger('demo');
  for (const [transId, decision] of [
    ['t-1', 1],
    ['t-2', 1],
    ['t-3', 2],
  ] as const)
    ledger.scored(ledger.scoreStarted(transId, null, null), decision);
  const latencies = new Latencies();
  const performer = { kills, pid: kills > 0 ? null : 4711 };
  const observer = new Observer({
    service: { ledger: () => ledger },
    opsUrl,
    performer,
    floor: { payments: new Map([['t-1', null]]), authorized: 1, poison: 2 },
    outputs: { found: { records: 3, events: 2 }, scores: 3, letters: 1 },
    latencies,
    clock,
  });
  return { observer, clock, performer };
}

const STATUS = JSON.stringify({
  phase: 'running',
  holds: [],
  gates: [],
  partitions: [
    { topic: 'payments.created', lag: '3' },
    { topic: 'payments.created', lag: '4' },
    { topic: 'payments.authorized', lag: '5' },
  ],
});
const METRICS = 'fraud_connector_batches_total{closed_by="age",status="200"} 7\n';

test('tells what the service, the topics and the connector say of one moment', async () => {
  const { observer, clock } = observe(await answering({ '/status': STATUS, '/metrics': METRICS }));
  clock.advance(2000);
  expect(await observer.look()).toMatchObject({
    second: 2,
    created: 1,
    authorized: 1,
    lag: 12,
    lagByTopic: { 'payments.created': 7, 'payments.authorized': 5 },
    decisions: { approve: 2, decline: 0, manual_review: 1, custom: 0 },
    published: 2,
    scores: 3,
    latencyMs: null,
    counts: { batchesClosedBy: { age: 7 } },
    poison: 2,
    letters: 1,
    doubled: 1,
    connector: { pid: 4711, kills: 0, phase: 'running' },
  });
});

test('knows of no lag and no phase while the connector does not answer', async () => {
  const opsUrl = await answering({});
  const { observer } = observe(opsUrl, 1);
  expect(await observer.look()).toMatchObject({
    lag: null,
    lagByTopic: null,
    connector: { pid: null, kills: 1, phase: null },
    holds: [],
  });
});

test('counts nothing of an answer when another connector may have given it', async () => {
  const { observer, performer } = observe(await answering({ '/status': STATUS, '/metrics': METRICS }));
  const looking = observer.look();
  performer.kills += 1;
  expect((await looking).counts.batchesClosedBy.age).toBe(0);
  expect((await observer.look()).counts.batchesClosedBy.age).toBe(7);
});
