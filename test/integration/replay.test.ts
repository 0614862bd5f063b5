import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type ReplayReport } from '../../src/replay/report.ts';
import { ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, recordsOf, somePayments } from '../support/payment-world.ts';

const { Kafka, logLevel } = kafkajs;
const PARTITIONS = 3;
const PATIENCE_MS = 30_000;

let world: PaymentWorld;
let folder: string;
beforeEach(async () => {
  world = await PaymentWorld.open({ ...inject('kafka'), partitions: PARTITIONS });
});
afterEach(async () => {
  await world.close();
});
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'replay-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

interface Replayed {
  readonly code: number | null;
  /** Null: none was written. */
  readonly report: ReplayReport | null;
  readonly process: ConnectorProcess;
}

async function startReplay(args: readonly string[]): Promise<ConnectorProcess> {
  return await ConnectorProcess.start(world.env, ['replay', ...args]);
}

async function replay(...args: readonly string[]): Promise<Replayed> {
  const file = join(folder, randomUUID());
  const process = await startReplay([...args, '--report', file]);
  const { code } = await process.ended;
  const text = await readFile(file, 'utf8').catch(() => '');
  return { code, report: text === '' ? null : (JSON.parse(text) as ReplayReport), process };
}

/** An update whose status tells the newest of two apart, by turns. */
function update(id: string, round: number) {
  const status = round % 2 === 0 ? 'declined_fraudscreening' : 'payment_pending';
  const ts = new Date(Date.UTC(2026, 0, 1 + (round % 2), 12, 0, round)).toISOString().replace('.000', '');
  return { key: id, value: { trans_id: id, status, ts } };
}

const idsOf = (count: number, prefix = 'tx'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index)}`);

/** Rounds of updates of these ids, each in one piece. */
async function write(ids: readonly string[], rounds: number, first = 0): Promise<void> {
  for (let round = first; round < first + rounds; round += 1)
    await world.send(world.topics.authorized, ...ids.map((id) => update(id, round)));
}

function updates(): number {
  return world.service.ledger().summary().updates;
}

/** The ids whose last update at the service is not that of this round. */
function notNewest(ids: readonly string[], round: number): readonly string[] {
  const { ts } = update('', round).value;
  return ids.filter((id) => world.service.ledger().transaction(id)?.updates.at(-1)?.ts !== ts);
}

/** The lines of standard error that say something about the failure. */
function complaint({ process }: Replayed): string {
  return process.stderr.filter((line) => !line.startsWith('{')).join('\n');
}

/** The exit code and the last word of a replay that is none. */
async function refusalOf(args: readonly string[]): Promise<string> {
  const process = await startReplay(args);
  const { code } = await process.ended;
  const said = process.stderr.filter((line) => !line.startsWith('{') && !line.startsWith('warning'));
  return `${String(code)} ${said.join(' | ').replaceAll(/t[0-9a-f]{8}/g, 'T')}`;
}

describe('what is no replay', () => {
  test('is one clear line, exit 2, and nothing is sent', async () => {
    await write(idsOf(5), 1);
    const { created, scores } = world.topics;
    const cases = [
      ['--from', '2100-01-01T00:00:00Z'],
      ['--from', '-1s', '--to', '-1h'],
      ['--to', '0:4000000'],
      ['--topic', 'not.there'],
      ['--topic', created],
      ['--topic', scores],
      ['--id', world.env['KAFKA_GROUP_ID'] ?? ''],
      ['--every-update'],
      ['--flow', 'scoring'],
      ['--report', '/not/there/report.json'],
      ['--remove', 'nobody'],
    ];
    const refused = [
      ...(await Promise.all(cases.slice(0, 6).map(refusalOf))),
      ...(await Promise.all(cases.slice(6).map(refusalOf))),
    ];
    expect(refused).toEqual([
      '2 USAGE: --from: "2100-01-01T00:00:00Z" lies in the future.',
      '2 USAGE: The end of the range lies before its start.',
      expect.stringMatching(/^2 USAGE: --to: 0:4000000 lies in the future; the partition ends at \d+\.$/),
      '2 TOPIC_MISSING: The topic not.there does not exist.',
      expect.stringMatching(/^2 USAGE: --topic: T\.created holds payments/),
      expect.stringMatching(/^2 USAGE: --topic: T\.scores is written by the connector/),
      expect.stringMatching(/^2 USAGE: --id: T is the group of the connector itself/),
      expect.stringMatching(/^2 USAGE: --every-update .* needs --force/),
      expect.stringMatching(/^2 USAGE: --flow: "scoring" is not accepted/),
      expect.stringMatching(/^2 USAGE: --report: the file "\/not\/there\/report.json" cannot be written/),
      expect.stringMatching(/^2 USAGE: There is no replay nobody/),
    ]);
    expect(world.service.ledger().summary()).toMatchObject({ updates: 0, logins: 0 });
  });
});

describe('the usual cases', () => {
  test('the service was away for a time: looked at, carried out, and forgotten', async () => {
    const ids = idsOf(60);
    await write(ids, 3);
    const idsFile = join(folder, randomUUID());
    const dry = await replay('--from', '-24h', '--dry-run', '--ids', idsFile);
    expect(dry).toMatchObject({ code: 0, report: { result: 'dry_run', read: 180, sent: 60 } });
    expect(dry.report?.wouldSend).toEqual([{ day: '2026-01-01', status: 'declined_fraudscreening', updates: 60 }]);
    expect((await readFile(idsFile, 'utf8')).trim().split('\n').sort()).toEqual([...ids].sort());
    expect(world.service.ledger().summary()).toMatchObject({ updates: 0, logins: 0 });

    const args = ['--from', '-24h', '--id', 'away', '--operator', 'ada'];
    const done = await replay(...args);
    expect(complaint(done)).not.toContain('Resume');
    expect(done).toMatchObject({
      code: 0,
      report: { result: 'done', read: 180, sent: 60, skipped: { newer_exists: 120 }, deadLettered: {}, repaired: 0 },
    });
    expect(done.process.stdout[0]).toBe(`Replay away of ${world.topics.authorized} from -24h to latest is done.`);
    expect(notNewest(ids, 2)).toEqual([]);
    const audits = done.process.stderr
      .filter((line) => line.includes('"event":"audit"'))
      .map((line) => JSON.parse(line) as unknown);
    expect(audits).toMatchObject([
      { who: 'ada', command: 'replay', result: 'started' },
      { who: 'ada', result: 'done', counts: 'read 180, sent 60, skipped 120, dead_lettered 0, repaired 0' },
    ]);

    expect(complaint(await replay(...args))).toMatch(/come to its end already/);
    expect(await replay('--remove', 'away')).toMatchObject({ code: 0 });
    expect(complaint(await replay('--remove', 'away'))).toMatch(/There is no replay away/);
    expect(await replay('--from', '-1s', '--to', '-1s')).toMatchObject({ code: 0, report: { result: 'empty' } });
  });

  test('wrong statuses were sent, or some before their payments: sent again they are linked; what cannot be sent is a letter and exit 1', async () => {
    const payments = somePayments(10);
    const ids = payments.map(({ transId }) => transId);
    const isLinked = (id: string): boolean => world.service.ledger().transaction(id)?.updates.at(-1)?.linked === true;
    await write(ids, 1);
    const two = ids.slice(0, 2);
    const some = await replay(...two.flatMap((id) => ['--trans-id', id]));
    expect(some).toMatchObject({ code: 0, report: { sent: 2, skipped: { out_of_range: 8 } } });
    expect(notNewest(two, 0)).toEqual([]);
    expect(two.filter(isLinked)).toEqual([]);

    await world.send(world.topics.created, ...recordsOf(payments).created);
    const scoring = await (await world.start({ FLOWS: 'scoring', KAFKA_GROUP_ID: randomUUID() })).ready();
    await eventually('all are scored', () => world.service.ledger().summary().scorings >= 10, PATIENCE_MS);
    await scoring.stop();
    await world.send(world.topics.authorized, { key: 'x', value: { trans_id: 'x', status: 'no such', ts: 'x' } });
    const all = await replay();
    expect(all).toMatchObject({ code: 1, report: { sent: 10, deadLettered: { status_unknown: 1 } } });
    expect(all.process.stdout.join('\n')).toMatch(/dead letter +1 +status_unknown/);
    expect(ids.filter((id) => !isLinked(id))).toEqual([]);
  });
});

describe('a replay that is cut off', () => {
  test('a kill in the middle is resumed with the same options, refused with others, stopped by Ctrl-C, and ends in the newest', async () => {
    const ids = idsOf(600);
    await write(ids, 2);
    const args = ['--id', 'cut', '--from', 'earliest', '--rate', '150'];
    const first = await startReplay(args);
    await eventually('some are sent', () => updates() > 100, PATIENCE_MS);
    await first.kill();
    const sentBefore = updates();
    expect(sentBefore).toBeLessThan(600);
    const other = await replay('--id', 'cut', '--from', '-1h');
    expect(other).toMatchObject({ code: 2, report: null });
    expect(complaint(other)).toMatch(/USAGE: The replay cut was begun with other options/);

    // What has come since is not in the range, but it is newer.
    await write(ids.slice(0, 5), 1, 4);
    const second = await startReplay(args);
    await eventually('more are sent', () => updates() > sentBefore + 50, PATIENCE_MS);
    second.signal('SIGINT');
    expect(await second.ended).toMatchObject({ code: 1 });
    expect(second.stdout.join('\n')).toContain('was stopped before its end');
    expect(second.stderr.join('\n')).toMatch(
      /Resume it with: fraud-connector replay --id cut .*--from earliest --to latest/,
    );

    const third = await replay('--id', 'cut', '--from', 'earliest');
    expect(third).toMatchObject({ code: 0, report: { result: 'done', resumed: true } });
    expect(notNewest(ids.slice(5), 1)).toEqual([]);
    // Repeated at most: what was in flight, and finished since the last commit.
    expect(updates()).toBeLessThan(600 + 5 + 150);
  });
});

describe('beside live traffic', () => {
  test('the first day with a long history: every transaction ends in its newest status, the live group sends what is new', async () => {
    const ids = idsOf(200);
    await write(ids, 2);
    const live = await (await world.start({ FLOWS: 'sync', KAFKA_START_FROM: 'latest' })).ready();
    const process = await startReplay(['--rate', '100', '--id', 'history']);
    let round = 2;
    while (process.isAlive && round < 12) {
      await write(ids.slice(0, 50), 1, round);
      round += 1;
      await sleep(200);
    }
    expect(await process.ended).toMatchObject({ code: 0 });
    await eventually('all is newest', () => notNewest(ids.slice(0, 50), round - 1).length === 0, PATIENCE_MS);
    expect(notNewest(ids.slice(50), 1)).toEqual([]);
    await live.stop();
  });
});

describe('what a log may have lost', () => {
  test('expired records are counted, and a marker at the end is no reason to wait', async () => {
    const kafka = new Kafka({ brokers: [...inject('kafka').brokers], logLevel: logLevel.NOTHING });
    const { authorized } = world.topics;
    const producer = kafka.producer({ transactionalId: randomUUID(), maxInFlightRequests: 1, idempotent: true });
    await producer.connect();
    const transaction = await producer.transaction();
    const messages = idsOf(30).map((id) => ({ key: id, value: JSON.stringify(update(id, 0).value), partition: 0 }));
    await transaction.send({ topic: authorized, messages });
    await transaction.commit();
    await producer.disconnect();
    const admin = kafka.admin();
    await admin.connect();
    await admin.fetchTopicOffsets(authorized);
    await admin.deleteTopicRecords({ topic: authorized, partitions: [{ partition: 0, offset: '10' }] });
    await admin.disconnect();
    const { code, report } = await replay('--from', '0:4', '--to', 'latest');
    expect({ code, report }).toMatchObject({
      code: 0,
      report: { result: 'done', read: 20, sent: 20, expired: 6, partitions: [{ from: '4', end: '31' }, {}, {}] },
    });
  });
});
