import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import kafkajs from 'kafkajs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toReviewRecord } from '../../src/reviews/record.ts';
import {
  FRAUD_REVIEW_SCHEMA,
  FRAUD_SCORE_SCHEMA,
  type FraudReview,
  type FraudScore,
} from '../../src/screening/avro.generated.ts';
import { NO_SCORE } from '../../src/screening/score.ts';
import {
  type Command,
  INSTALL,
  type Kind,
  type Language,
  LANGUAGES,
  ReaderProcess,
  workFolder,
} from '../readers/harness.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { LATER_DECISION, newerScore } from '../support/schema-changes.ts';
import { type Lane, SecuredKafka, USER } from '../support/secured-kafka.ts';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

const SET_UP_LIMIT_MS = 600_000;
/** A member that was killed keeps its partitions for a session, 45 s in librdkafka and Java. */
const READING_LIMIT_MS = 120_000;

interface Scored {
  readonly account?: string;
  readonly trans_id: string;
  readonly decision?: string;
  readonly failure?: string;
}

/** In the order of the topic: what happens to a payment, and last what a reader is to know of it. */
const RECORDS: readonly Scored[] = [
  { trans_id: 'approved', decision: 'approve' },
  { trans_id: 'repeated', decision: 'decline' },
  { trans_id: 'repeated', decision: 'decline' },
  { trans_id: 'scored-again', decision: 'decline' },
  { trans_id: 'scored-again', decision: 'approve' },
  { trans_id: 'already-scored', decision: 'decline' },
  { trans_id: 'already-scored', failure: 'already_scored' },
  { trans_id: 'refused', failure: 'status_400' },
  { trans_id: 'refused', failure: 'status_422' },
  { trans_id: 'refused-first', failure: 'status_400' },
  { trans_id: 'refused-first', decision: 'manual_review' },
  { trans_id: 'later', decision: LATER_DECISION },
  { trans_id: 'two-accounts', account: 'eu', decision: 'approve' },
  { trans_id: 'two-accounts', account: 'us', decision: 'custom' },
];

/** Account, trans_id, decision, failure. */
const KNOWN: readonly (readonly [string, string, string, string | null])[] = [
  ['eu', 'already-scored', 'decline', null],
  ['eu', 'approved', 'approve', null],
  ['eu', 'later', 'unknown', null],
  ['eu', 'refused', 'unknown', 'status_422'],
  ['eu', 'refused-first', 'manual_review', null],
  ['eu', 'repeated', 'decline', null],
  ['eu', 'scored-again', 'approve', null],
  ['eu', 'two-accounts', 'approve', null],
  ['us', 'two-accounts', 'custom', null],
];

const work = workFolder();
const commands = new Map<Language, Command>();
const readers: ReaderProcess[] = [];
let kafka: SecuredKafka;
let world: PaymentWorld;

beforeAll(async () => {
  const installed = Promise.all(LANGUAGES.map(async (each) => commands.set(each, await INSTALL[each](work.folder))));
  kafka = await SecuredKafka.open({ registry: true });
  world = await PaymentWorld.open({ ...kafka.kafka, partitions: 3, env: { FLOWS: 'scoring,reviews' } });
  await allowReading();
  await writeScores();
  await writeReview();
  await installed;
}, SET_UP_LIMIT_MS);

afterAll(async () => {
  await Promise.all(readers.map(async (reader) => await reader.stop('SIGKILL')));
  await world?.close();
  await kafka?.close();
  work.remove();
}, 60_000);

async function allowReading(): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers: [kafka.plain], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const acl = [AclResourceTypes.TOPIC, AclResourceTypes.GROUP].map((resourceType) => ({
    resourceType,
    resourceName: '*',
    resourcePatternType: ResourcePatternTypes.LITERAL,
    principal: `User:${USER}`,
    host: '*',
    operation: AclOperationTypes.READ,
    permissionType: AclPermissionTypes.ALLOW,
  }));
  await admin.createAcls({ acl });
  await admin.disconnect();
}

/** The last schema first: its subject then takes today's, too. */
async function writeScores(): Promise<void> {
  const subject = `${world.topics.scores}-value`;
  const today = await world.registry.idOf(subject, FRAUD_SCORE_SCHEMA);
  if (today.do !== 'found') throw new Error('the schema of scores is not registered');
  const schema = newerScore();
  const newer = world.registry.encoder<FraudScore>(schema, await world.registry.register(subject, schema));
  const encoder = world.registry.encoder<FraudScore>(FRAUD_SCORE_SCHEMA, today.id);
  for (const [offset, record] of RECORDS.entries()) {
    const { account = 'eu', trans_id, decision = 'unknown', failure = null } = record;
    const score = {
      ...NO_SCORE,
      account,
      trans_id,
      decision,
      failure,
      score: failure === null ? 0.25 : null,
      http_status_code: 200,
      latency_ms: 12,
      attempts: 1,
      possibly_scored_before: false,
      scored_at: 1_772_357_400_000,
      source: { topic: 'payments.created', partition: 0, offset },
    } as FraudScore;
    const value = (decision === LATER_DECISION ? newer : encoder).encode(score);
    await world.send(world.topics.scores, { key: trans_id, value });
  }
}

async function writeReview(): Promise<void> {
  const found = await world.registry.idOf(`${world.topics.reviews}-value`, FRAUD_REVIEW_SCHEMA);
  if (found.do !== 'found') throw new Error('the schema of reviews is not registered');
  const review = {
    type: 'txn_manual_review',
    fraudTransactionId: 'frg-1',
    transactionId: 'reviewed',
    decision: 'good',
    reviewedAt: '2026-02-03T10:00:00Z',
    reviewedAtMicros: 1_770_112_800_000_000,
  } as const;
  const record = toReviewRecord(review, '{}', 'a'.repeat(64), {
    topic: world.topics.reviews,
    account: 'eu',
    source: '/fraud-screening-connector/eu',
    encoder: world.registry.encoder<FraudReview>(FRAUD_REVIEW_SCHEMA, found.id),
    receivedAtMs: 1_770_112_800_000,
  });
  await world.send(world.topics.reviews, { key: 'reviewed', value: record.value });
}

const databaseOf = (language: Language, run: string): string => path.join(work.folder, `${language}-${run}.db`);

interface Started {
  readonly of?: Kind;
  readonly run: string;
  readonly database?: string;
  readonly topic?: string;
  readonly env?: Readonly<Record<string, string>>;
}

function start(language: Language, { of = 'scores', run, database, topic, env = {} }: Started): ReaderProcess {
  const command = commands.get(language);
  if (command === undefined) throw new Error(`${language} is not installed`);
  const reader = new ReaderProcess(
    command,
    { language, of, database: database ?? databaseOf(language, run) },
    {
      KAFKA_BROKERS: kafka.plain,
      KAFKA_GROUP_ID: `${world.topics.scores}-${language}-${run}`,
      SCHEMA_REGISTRY_URL: kafka.kafka.registryUrl,
      TOPIC_SCORES: topic ?? world.topics.scores,
      TOPIC_REVIEWS: world.topics.reviews,
      ...env,
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

function known(database: string): readonly (readonly unknown[])[] {
  const db = new DatabaseSync(database, { readOnly: true });
  try {
    const rows = db
      .prepare('select account, trans_id, decision, failure from payment order by account, trans_id')
      .all();
    return rows.map(({ account, trans_id, decision, failure }) => [account, trans_id, decision, failure]);
  } finally {
    db.close();
  }
}

describe.each(LANGUAGES)('the reader of scores in %s', (language) => {
  test('keeps the last decision on each payment, which a failure never replaces', async () => {
    const reader = start(language, { run: 'first' });
    await untilRead(reader, RECORDS.length);
    await reader.stop();
    expect(known(databaseOf(language, 'first'))).toEqual(KNOWN);
    const actionsOf = (id: string): readonly string[] =>
      reader.lines.flatMap(({ trans_id, action }) => (trans_id === id ? [action] : []));
    expect(actionsOf('already-scored')).toEqual(['reject', 'none']);
    expect(actionsOf('refused-first')).toEqual(['hold', 'review']);
    expect(actionsOf('later')).toEqual(['hold']);
  });

  test('changes nothing when it reads everything again', async () => {
    const reader = start(language, { run: 'again', database: databaseOf(language, 'first') });
    await untilRead(reader, RECORDS.length);
    await reader.stop();
    expect(known(databaseOf(language, 'first'))).toEqual(KNOWN);
    expect(new Set(reader.lines.map(({ outcome }) => outcome))).toEqual(new Set(['kept']));
  });

  test('knows after a kill what it has kept', async () => {
    const killed = start(language, { run: 'killed' });
    await untilRead(killed, 5);
    await killed.stop('SIGKILL');
    const next = start(language, { run: 'after', database: databaseOf(language, 'killed') });
    await untilRead(next, RECORDS.length);
    await next.stop();
    expect(known(databaseOf(language, 'killed'))).toEqual(KNOWN);
  });

  test('ends at a record that it cannot read', async () => {
    const topic = `${world.topics.scores}.unreadable.${language}`;
    await world.createTopic(topic);
    await world.send(topic, { value: 'not in Confluent framing' });
    const reader = start(language, { run: 'unreadable', topic });
    expect(await reader.ended).toBe(1);
    expect(reader.lines).toEqual([]);
  });

  test.each<[Kind, Lane, number]>([
    ['scores', 'tls', RECORDS.length],
    ['scores', 'plain', RECORDS.length],
    ['scores', 'scram-sha-512', RECORDS.length],
    ['reviews', 'scram-sha-256', 1],
  ])('reads %s from brokers reached by %s', async (of, lane, records) => {
    const { KAFKA_SASL_PASSWORD_FILE: _, ...env } = kafka.env(lane);
    const secret = { KAFKA_SASL_PASSWORD: kafka.password };
    const reader = start(language, { of, run: `${of}-${lane}`, env: definedIn({ ...env, ...secret }) });
    await untilRead(reader, records);
    await reader.stop();
    expect(reader.lines).toHaveLength(records);
  });

  test('does not believe brokers of another authority', async () => {
    const env = kafka.env('plain');
    kafka.mount({ stranger: kafka.stranger.certificate });
    const reader = start(language, {
      run: 'stranger',
      env: definedIn({ ...env, KAFKA_TLS_CA_FILE: kafka.path('stranger'), KAFKA_SASL_PASSWORD: kafka.password }),
    });
    await eventually(
      'it complains or ends',
      () => reader.complaints.length > 0 || reader.end !== null,
      READING_LIMIT_MS,
    );
    expect(reader.lines).toEqual([]);
    await reader.stop('SIGKILL');
  });
});

function definedIn(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
