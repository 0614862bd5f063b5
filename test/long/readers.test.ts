import path from 'node:path';
import kafkajs from 'kafkajs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toReviewRecord } from '../../src/reviews/record.ts';
import { type KafkaAndRegistry, startKafka } from '../../src/sandbox/broker/start.ts';
import { FRAUD_REVIEW_SCHEMA, type FraudReview } from '../../src/screening/avro.generated.ts';
import { REVIEW_DECISIONS, type Review } from '../../src/screening/review.ts';
import { formatRfc3339Millis, parseRfc3339 } from '../../src/screening/rfc3339.ts';
import {
  byPayment,
  type Command,
  INSTALL,
  type Language,
  LANGUAGES,
  type Line,
  ReaderProcess,
  type Row,
  rowsOf,
  workFolder,
} from '../readers/harness.ts';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { LATER_DECISION, newerReview } from '../support/schema-changes.ts';
import { reviewBody, sign } from '../support/webhooks.ts';

const SET_UP_LIMIT_MS = 600_000;
/** A member that was killed keeps its partitions for a session, 45 s in librdkafka and Java. */
const READING_LIMIT_MS = 120_000;
const PAYMENTS = 20;
const EVENTS = 120;
const REPEATED = 30;

/** 143: what Java ends with after SIGTERM, in good order, too. */
const ENDS_ON_REQUEST = [0, 143];

interface Event {
  readonly frg_trans_id: string;
  readonly trans_id: string;
  readonly decision: string;
  readonly reviewed_at: string;
}

/** Reviews of few payments in no order of time, some at the same time, some a microsecond apart: the same in each run. */
function someEvents(): readonly Event[] {
  let seed = 7;
  const draw = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  return Array.from({ length: EVENTS }, (_, index) => {
    const second = String(draw(4)).padStart(2, '0');
    const micros = String(draw(3)).padStart(6, '0');
    return {
      frg_trans_id: `frg-${String(index)}`,
      trans_id: `pay-${String(index % PAYMENTS)}`,
      decision: REVIEW_DECISIONS[draw(REVIEW_DECISIONS.length)] ?? 'good',
      reviewed_at: `2026-02-03T10:00:${second}.${micros}Z`,
    };
  });
}

const work = workFolder();
const commands = new Map<Language, Command>();
const readers: ReaderProcess[] = [];
/** What each language's first reader printed: of the whole topic. */
const firstLines = new Map<Language, readonly Line[]>();
let kafka: KafkaAndRegistry;
let world: PaymentWorld;
let written: readonly FraudReview[];

beforeAll(async () => {
  const installed = Promise.all(LANGUAGES.map(async (each) => commands.set(each, await INSTALL[each](work.folder))));
  kafka = await startKafka({ env: process.env, say: console.log });
  world = await PaymentWorld.open({ ...kafka, partitions: 3, env: { FLOWS: 'reviews' } });
  await writeTopic();
  written = await readTopic();
  await installed;
}, SET_UP_LIMIT_MS);

afterAll(async () => {
  await Promise.all(readers.map(async (reader) => await reader.stop('SIGKILL')));
  await world?.close();
  await kafka?.stop();
  work.remove();
}, 60_000);

/** Through the bridge, as the screening service would: a second process knows nothing of what the first acknowledged. */
async function writeTopic(): Promise<void> {
  const events = someEvents();
  const first = await (await world.start()).ready();
  for (const event of events) await post(first, event);
  await first.stop();
  const second = await (await world.start()).ready();
  for (const event of events.slice(0, REPEATED)) await post(second, event);
  await second.stop();
  await writeNewer();
}

async function post(connector: ConnectorProcess, event: Event): Promise<void> {
  const body = reviewBody({ ...event, queue: 'night' });
  const timestamp = formatRfc3339Millis(Date.now());
  const answer = await fetch(connector.webhookUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-servicewebhook-signature': sign(body, timestamp, world.service.webhookSecret),
      'x-servicewebhook-timestamp': timestamp,
    },
    body: new Uint8Array(body),
  });
  expect(answer.status).toBe(200);
}

/** As a later version of the connector would write it: with a decision and a field that readers of today do not know. */
async function writeNewer(): Promise<void> {
  const schema = newerReview();
  const id = await world.registry.register(`${world.topics.reviews}-value`, schema);
  const reviewedAt = '2026-02-03T11:00:00Z';
  const review = {
    type: 'txn_manual_review',
    fraudTransactionId: 'frg-0001',
    transactionId: 'pay-0',
    decision: LATER_DECISION,
    reviewedAt,
    reviewedAtMicros: parseRfc3339(reviewedAt) ?? 0,
  } as unknown as Review;
  const record = toReviewRecord(review, '{}', 'f'.repeat(64), {
    topic: world.topics.reviews,
    account: 'test',
    source: '/fraud-screening-connector/test',
    encoder: world.registry.encoder<FraudReview>(schema, id),
    receivedAtMs: Date.now(),
  });
  await world.send(world.topics.reviews, { key: 'pay-0', value: record.value, headers: record.headers });
}

async function readTopic(): Promise<readonly FraudReview[]> {
  const log = await world.read(world.topics.reviews);
  await eventually('all records are read', () => log.records.length === EVENTS + REPEATED + 1);
  return await Promise.all(log.records.map(async ({ value }) => await world.decode(FRAUD_REVIEW_SCHEMA, value)));
}

/** Reckoned from the whole topic at once: the newest of each payment, by time and then by id. */
function expectedRows(): readonly Row[] {
  const newest = new Map<string, Row>();
  for (const { account, trans_id, event_id, decision, reviewed_at } of written) {
    const known = newest.get(trans_id);
    const isNewer =
      known === undefined ||
      reviewed_at > known.reviewed_at ||
      (reviewed_at === known.reviewed_at && event_id > known.event_id);
    if (isNewer) newest.set(trans_id, { account, trans_id, event_id, decision, reviewed_at });
  }
  return [...newest.values()].toSorted(byPayment);
}

const databaseOf = (language: Language, run: string): string => path.join(work.folder, `${language}-${run}.db`);
const groupOf = (language: Language, run: string): string => `${world.topics.reviews}-${language}-${run}`;

function start(
  language: Language,
  group: string,
  database: string,
  topic: string = world.topics.reviews,
): ReaderProcess {
  const command = commands.get(language);
  if (command === undefined) throw new Error(`${language} is not installed`);
  const reader = new ReaderProcess(
    command,
    { language, of: 'reviews', database },
    {
      KAFKA_BROKERS: kafka.brokers.join(','),
      KAFKA_GROUP_ID: group,
      SCHEMA_REGISTRY_URL: kafka.registryUrl,
      TOPIC_REVIEWS: topic,
    },
  );
  readers.push(reader);
  return reader;
}

async function untilRead(reader: ReaderProcess, records: number): Promise<void> {
  await eventually(
    `${String(records)} records are read`,
    () => {
      if (reader.end !== null) throw new Error(`the reader has ended:\n${reader.complaints.slice(-15).join('\n')}`);
      return reader.lines.length >= records;
    },
    READING_LIMIT_MS,
  );
}

/** A partition without a committed offset says -1. */
function sum(offsets: readonly { readonly offset: string }[]): number {
  return offsets.reduce((all, { offset }) => all + Math.max(0, Number(offset)), 0);
}

async function committedAndEnd(group: string, topic: string = world.topics.reviews): Promise<[number, number]> {
  const admin = new kafkajs.Kafka({ brokers: kafka.brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const [of] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    return [sum(of?.partitions ?? []), sum(await admin.fetchTopicOffsets(topic))];
  } finally {
    await admin.disconnect();
  }
}

/** Lines by payment: partitions come in any order, payments keep theirs. */
function byTransaction(lines: readonly Line[]): Readonly<Record<string, readonly Line[]>> {
  const found: Record<string, Line[]> = {};
  for (const line of lines) (found[line.trans_id] ??= []).push(line);
  return found;
}

test('the topic holds what readers must be ready for', () => {
  expect(new Set(written.map(({ event_id }) => event_id)).size).toBe(written.length - REPEATED);
  expect(written.filter(({ decision }) => decision === 'unknown')).toHaveLength(1);
  const times = written.filter(({ trans_id }) => trans_id === 'pay-1').map(({ reviewed_at }) => reviewed_at);
  expect(times).not.toEqual(times.toSorted((a, b) => a - b));
});

describe.each(LANGUAGES)('the reader in %s', (language) => {
  test('keeps the newest review of each payment, and commits what it has kept', async () => {
    const database = databaseOf(language, 'first');
    const reader = start(language, groupOf(language, 'first'), database);
    firstLines.set(language, reader.lines);
    await untilRead(reader, written.length);
    await eventually('all is committed', async () => {
      const [committed, end] = await committedAndEnd(groupOf(language, 'first'));
      return committed === end;
    });
    expect(ENDS_ON_REQUEST).toContain(await reader.stop());
    expect(rowsOf(database)).toEqual(expectedRows());
    expect(reader.lines.filter(({ outcome }) => outcome === 'duplicate')).toHaveLength(REPEATED);
  });

  test('holds a payment whose decision it does not know', () => {
    const row = rowsOf(databaseOf(language, 'first')).find(({ trans_id }) => trans_id === 'pay-0');
    expect(row?.decision).toBe('unknown');
    const lines = (firstLines.get(language) ?? []).filter(({ decision }) => decision === 'unknown');
    expect(lines.map(({ action }) => action)).toEqual(['hold']);
  });

  test('changes nothing when it reads everything again', async () => {
    const database = databaseOf(language, 'first');
    const reader = start(language, groupOf(language, 'again'), database);
    await untilRead(reader, written.length);
    await reader.stop();
    expect(new Set(reader.lines.map(({ outcome }) => outcome))).toEqual(new Set(['duplicate']));
    expect(rowsOf(database)).toEqual(expectedRows());
  });
});

test('all readers say the same of every record', () => {
  const [first, ...others] = LANGUAGES.map((language) => byTransaction(firstLines.get(language) ?? []));
  expect(Object.keys(first ?? {})).toHaveLength(PAYMENTS);
  for (const other of others) expect(other).toEqual(first);
});

test(
  'readers that are killed lose nothing and know what they have kept',
  async () => {
    const half = Math.floor(written.length / 2);
    await Promise.all(
      LANGUAGES.map(async (language) => {
        const [group, database] = [groupOf(language, 'killed'), databaseOf(language, 'killed')];
        const killed = start(language, group, database);
        await untilRead(killed, half);
        await killed.stop('SIGKILL');
        const [committed] = await committedAndEnd(group);
        const next = start(language, group, database);
        await untilRead(next, written.length - committed);
        await next.stop();
        expect(rowsOf(database)).toEqual(expectedRows());
      }),
    );
  },
  READING_LIMIT_MS * 3,
);

test(
  'readers end at a record that they cannot read, and do not commit it',
  async () => {
    const topic = `${world.topics.reviews}.unreadable`;
    await world.createTopic(topic);
    await world.send(topic, { value: 'not in Confluent framing' });
    await Promise.all(
      LANGUAGES.map(async (language) => {
        const group = groupOf(language, 'unreadable');
        const reader = start(language, group, databaseOf(language, 'unreadable'), topic);
        expect(await reader.ended).toBe(1);
        expect(reader.lines).toEqual([]);
        expect(await committedAndEnd(group, topic)).toEqual([0, 1]);
      }),
    );
  },
  READING_LIMIT_MS,
);
