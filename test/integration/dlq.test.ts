import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { type Terminal } from '../../src/edges/system/terminal.ts';
import { toParkedRecord } from '../../src/dead-letters/letter.ts';
import {
  type FraudReview,
  FRAUD_REVIEW_SCHEMA,
  type FraudScore,
  FRAUD_SCORE_SCHEMA,
} from '../../src/screening/avro.generated.ts';
import { ConnectorProcess, type Environment, FIRST_WORD_LIMIT_MS } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { headerTexts, type LoggedRecord, type TopicLog } from '../support/topic-log.ts';
import { reviewBody, sign } from '../support/webhooks.ts';

const PERSON = {
  cust_first_name: 'Rosalinde',
  cust_last_name: 'Quastenflosser',
  cust_email: 'rosalinde@quastenflosser.example',
  bill_ad_line1: 'Kirschgarten 77b',
  ip: '198.51.100.77',
};
const CANARIES = [...Object.values(PERSON), 'quastenflosser'];
const PAN = '4111111111111111';
const OLD_SECRET = 'whsec-made-up-old-0000000000000001';

let world: PaymentWorld;
let connector: ConnectorProcess;
let log: TopicLog;

beforeAll(async () => {
  const env = { DEAD_LETTER_MAX_SHARE: '1', SYNC_BATCH_MAX_AGE_MS: '50', FLOWS: 'scoring,sync,reviews' };
  world = await PaymentWorld.open({ ...inject('kafka'), partitions: 2, env, service: { reviewAfterMs: 3_600_000 } });
  const { created, authorized, reviews, scores } = world.topics;
  log = await world.read(
    world.letters(created),
    world.letters(authorized),
    world.letters(reviews),
    scores,
    reviews,
    created,
    authorized,
  );
  connector = await (await world.start()).ready();
});
afterEach(() => {
  world.service.faults.set({});
});
afterAll(async () => {
  await world.close();
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly output: string;
}

/** In this process: a command is no process of its own to Kafka, and begins sooner. */
async function dlq(args: readonly string[], env: Environment = {}): Promise<Ended> {
  const out: string[] = [];
  const all: string[] = [];
  const terminal: Terminal = {
    env: { ...world.env, ...env },
    isInteractive: false,
    say: (line) => {
      out.push(line);
      all.push(line);
    },
    complain: (line) => {
      all.push(line);
    },
    onStop: () => () => undefined,
    exit: (code) => {
      throw new Error(`exit ${String(code)}`);
    },
  };
  const code = await runProgram(['dlq', ...args], terminal);
  return { code, out: out.join('\n'), output: all.join('\n') };
}

interface Report {
  readonly id: string;
  readonly result: string;
  readonly sent: number;
  readonly skipped: Readonly<Record<string, number>>;
  readonly left: Readonly<Record<string, number>>;
  readonly deadLettered: Readonly<Record<string, number>>;
  readonly repaired: number;
}

async function redrive(
  topic: string,
  args: readonly string[],
  env: Environment = {},
): Promise<Ended & { readonly report: Report | undefined }> {
  const ended = await dlq(['redrive', '--topic', topic, '--json', ...args], env);
  const reports = ended.out.startsWith('[') ? (JSON.parse(ended.out) as Report[]) : [];
  return { ...ended, report: reports[0] };
}

const ledger = (transId: string): ReturnType<ReturnType<PaymentWorld['service']['ledger']>['transaction']> =>
  world.service.ledger().transaction(transId);
const payment = (transId: string): object => ({ trans_id: transId, trans_amt: 12.5, trans_currency: 'EUR', ...PERSON });
const update = (transId: string, status: string, second = 0): object => ({
  trans_id: transId,
  status,
  ts: `2026-01-01T10:00:${String(second).padStart(2, '0')}Z`,
});

async function lettersOf(topic: string, count: number): Promise<readonly LoggedRecord[]> {
  return await eventually(`${String(count)} letters`, () => {
    const found = log.of(world.letters(topic));
    return found.length >= count && found;
  });
}

function expectNobody(text: string): void {
  for (const canary of CANARIES) expect(text.toLowerCase()).not.toContain(canary.toLowerCase());
}

describe('letters of payments', () => {
  const ids = ['pay-1', 'pay-2', 'pay-3'];

  test('are listed by reason, and shown without a word about the person', async () => {
    const { created } = world.topics;
    // A service that has refused everybody so far says nothing of a payment.
    await world.send(created, { key: 'good', value: payment('good') });
    await eventually('another is scored', () => ledger('good')?.scored === 1);
    world.service.faults.set({ status: { code: 400 }, operations: ['score'] });
    await world.send(created, ...ids.map((transId) => ({ key: transId, value: payment(transId) })));
    await world.send(created, { key: 'bad', value: `{"cust_email":"${PERSON.cust_email}"` });
    await lettersOf(created, 4);

    const listed = await dlq(['list', '--topic', created, '--json']);
    expect(listed.code).toBe(0);
    const { reasons, letters } = JSON.parse(listed.out) as {
      letters: number;
      reasons: { reason: string; letters: number; example: string }[];
    };
    expect(letters).toBe(4);
    expect(reasons.map(({ reason, letters: of }) => [reason, of])).toEqual([
      ['status_400', 3],
      ['undecodable', 1],
    ]);
    const table = await dlq(['list', '--topic', world.letters(created), '--trans-id', 'pay-2']);
    expect(table.out).toContain('1 letter in ');

    for (const { reason, example } of reasons) {
      const shown = await dlq(['show', '--topic', created, '--offset', example]);
      expect([shown.code, shown.out]).toEqual([0, expect.stringContaining(reason) as string]);
      expectNobody(shown.output);
    }
    const one = await dlq(['show', '--topic', created, '--offset', reasons[0]?.example ?? '']);
    expect(one.out).toMatch(/trans_id +pay-\d/);
    expect(one.out).toContain('/cust_first_name: text of 9 characters');
    expectNobody(listed.output + table.output);
  });

  test('that are pointers say where the record is', async () => {
    const { created } = world.topics;
    world.service.faults.set({});
    await world.send(created, { key: 'pan-1', value: { ...payment('pan-1'), loyalty_no: PAN } });
    await lettersOf(created, 5);
    const pointer = log.of(world.letters(created)).at(-1) as LoggedRecord;
    const headers = { ...headerTexts(pointer), 'dlq.source.offset': '99999' };
    await world.send(world.letters(created), { key: null, value: null, headers });
    await lettersOf(created, 6);
    const shown = await dlq(['show', '--topic', created, '--offset', placeOf(pointer)]);
    expect(shown.out).toContain('withheld: the letter is a pointer');
    expect(shown.out).toContain(`source         ${created} `);
  });

  test('are scored once mended, each once, and published with the place of the payment; nothing is written to its topic', async () => {
    const { created, scores } = world.topics;
    const before = log.of(created).length;
    const env = { CARD_GUARD_EXEMPT: 'loyalty_no' };
    const dry = await redrive(world.topics.authorized, ['--topic', created, '--reason', 'status_400', '--dry-run']);
    const [first, second] = JSON.parse(dry.out) as { topic: string; sent: number }[];
    expect([dry.code, first, second?.topic]).toEqual([
      0,
      expect.objectContaining({ topic: world.letters(created), sent: 3 }),
      world.letters(world.topics.authorized),
    ]);
    const { code, report, output } = await redrive(created, ['--operator', 'somebody'], env);
    expect(report).toMatchObject({
      result: 'done',
      sent: 4,
      deadLettered: { undecodable: 1 },
      left: { source_gone: 1 },
    });
    expect(code).toBe(1);
    expect(output).toContain('"who":"somebody"');
    expect(output).toMatch(/"result":"started"[^]*"result":"done"/);
    expectNobody(output);
    for (const transId of [...ids, 'pan-1']) {
      expect(ledger(transId)?.scored).toBe(1);
      const source = log.of(created).find(({ key }) => key?.toString() === transId);
      const published = await eventually('the score', async () => {
        for (const { key, value } of log.of(scores)) {
          const score = key?.toString() === transId && (await world.decode<FraudScore>(FRAUD_SCORE_SCHEMA, value));
          if (score !== false && score.failure === null) return score;
        }
        return null;
      });
      expect(published.source).toMatchObject({ topic: created, offset: source?.offset });
    }
    expect(log.of(created)).toHaveLength(before);
    const again = await redrive(created, ['--id', report?.id ?? ''], env);
    expect([again.code, again.output]).toEqual([2, expect.stringContaining('has come to its end already') as string]);
  });
});

function placeOf({ partition, offset }: LoggedRecord): string {
  return `${String(partition)}:${String(offset)}`;
}

describe('letters of status updates', () => {
  test('are sent where nothing newer is in the topic, and passed over where something is', async () => {
    const { created, authorized } = world.topics;
    for (const transId of ['up-1', 'up-2']) await world.send(created, { key: transId, value: payment(transId) });
    await eventually('both are scored', () => ledger('up-2')?.scored === 1 && ledger('up-1')?.scored === 1);
    world.service.faults.set({ patchRejects: ['up-1', 'up-2'] });
    await world.send(created, { key: 'ok', value: payment('ok') });
    await world.send(authorized, { key: 'ok', value: update('ok', 'error') });
    await eventually('another is accepted', () => ledger('ok')?.updateCount === 1);
    for (const transId of ['up-1', 'up-2'])
      await world.send(authorized, { key: transId, value: update(transId, 'error', 1) });
    await eventually('they wait', async () =>
      ((await connector.flow('sync'))?.waits ?? []).some(
        ({ cause, records }) => cause === 'record_failing' && records === 2,
      ),
    );
    // That they are refused again is their own fault once another was accepted.
    await world.send(authorized, { key: 'ok', value: update('ok', 'error', 3) });
    await lettersOf(authorized, 2);
    world.service.faults.set({});
    await world.send(authorized, { key: 'up-2', value: update('up-2', 'approved_recurring', 2) });
    await eventually('the newer one is sent', () => ledger('up-2')?.updateCount === 1);

    const { code, report } = await redrive(authorized, []);
    expect(report).toMatchObject({ sent: 1, skipped: { newer_exists: 1 }, repaired: 0 });
    expect(code).toBe(0);
    expect(ledger('up-1')?.updates.map(({ status }) => status)).toEqual(['error']);
    expect(ledger('up-2')?.updates.map(({ status }) => status)).toEqual(['approved_recurring']);
  });

  test('that are refused again end as letters at once, though nothing else is accepted', async () => {
    const { authorized } = world.topics;
    world.service.faults.set({ status: { code: 422 }, operations: ['sync'] });
    const { code, report } = await redrive(authorized, ['--trans-id', 'up-1']);
    expect([code, report?.deadLettered]).toEqual([1, { status_422: 1 }]);
    const letters = await eventually('a letter again', () => {
      const found = log.of(world.letters(authorized)).filter(({ key }) => key?.toString() === 'up-1');
      return found.length > 1 && found.map(headerTexts);
    });
    expect(letters.map((headers) => headers['dlq.reason'])).toEqual(['status_400', 'status_422']);
    expect(Number(letters[1]?.['dlq.attempts'])).toBeGreaterThan(Number(letters[0]?.['dlq.attempts']));
    for (const name of ['dlq.source.topic', 'dlq.source.partition', 'dlq.source.offset', 'dlq.source.timestamp'])
      expect(letters[1]?.[name]).toBe(letters[0]?.[name]);
  });

  test('that were not sent before a kill are sent after it, and no other', async () => {
    const { authorized } = world.topics;
    const ids = Array.from({ length: 40 }, (_, index) => `kill-${String(index)}`);
    await world.send(authorized, ...ids.map((transId) => ({ key: transId, value: update(transId, 'lost') })));
    const before = log.of(world.letters(authorized)).length;
    await world.send(
      world.letters(authorized),
      ...ids.map((transId, index) => ({
        key: transId,
        value: update(transId, 'error'),
        headers: {
          'dlq.reason': 'status_unknown',
          'dlq.attempts': '1',
          'dlq.source.topic': authorized,
          'dlq.source.partition': String(index % 2),
          'dlq.source.offset': String(1000 + index),
        },
      })),
    );
    await lettersOf(authorized, before + 2 * ids.length);
    const args = ['redrive', '--topic', authorized, '--reason', 'status_unknown', '--id', 'killed', '--json'];
    const limited = ['--limit', '80', '--rate', '5'];
    const first = await ConnectorProcess.start({ ...world.env, SYNC_BATCH_MAX_RECORDS: '1' }, [
      'dlq',
      ...args,
      ...limited,
    ]);
    const sent = (): number => ids.filter((transId) => (ledger(transId)?.updateCount ?? 0) > 0).length;
    await eventually('the redrive has begun', () => first.output.includes('Redrive killed:'), FIRST_WORD_LIMIT_MS);
    await eventually('some are sent', () => sent() > 3);
    await first.kill();
    expect(sent()).toBeLessThan(ids.length);
    const other = await dlq([...args, '--limit', '79']);
    expect([other.code, other.output]).toEqual([2, expect.stringContaining('begun with other options') as string]);
    const second = await dlq([...args, '--limit', '80']);
    expect(second.output).toContain('Redrive killed is resumed');
    expect(sent()).toBe(ids.length);
    const doubled = ids.filter((transId) => (ledger(transId)?.updateCount ?? 0) > 1);
    expect(doubled.length).toBeLessThan(10);
  });
});

/** As an older version would have parked it. */
async function park(transId: string, decision = 'bad'): Promise<void> {
  const { reviews } = world.topics;
  const body = reviewBody({ trans_id: transId, decision });
  const timestamp = '2025-06-01T00:00:00Z';
  const { value, headers } = toParkedRecord(
    {
      topic: world.letters(reviews),
      body,
      signature: sign(body, timestamp, OLD_SECRET),
      timestamp,
      signatureHeader: 'x-servicewebhook-signature',
      timestampHeader: 'x-servicewebhook-timestamp',
      detail: '/data/decision',
    },
    { account: 'test', connector: 'fraud-screening-connector/0.0.1', failedAtMs: Date.UTC(2025, 5, 1) },
  );
  const before = log.of(world.letters(reviews)).length;
  await world.send(world.letters(reviews), { value, headers });
  await lettersOf(reviews, before + 1);
}

describe('parked webhooks', () => {
  test('are left where no secret of now has signed them, and published where one has, however old they are', async () => {
    const { reviews } = world.topics;
    await park('parked-1');
    await park('parked-2', 'splendid');
    const refused = await redrive(reviews, ['--dry-run']);
    expect([refused.report?.left, refused.report?.sent]).toEqual([{ bad_signature: 2 }, 0]);
    expect(log.of(reviews)).toEqual([]);

    const { code, report } = await redrive(reviews, [], {
      WEBHOOK_SECRETS: `${world.service.webhookSecret},${OLD_SECRET}`,
    });
    expect([code, report?.sent, report?.left]).toEqual([1, 1, { still_unrecognised: 1 }]);
    const record = await log.find(reviews, ({ key }) => key?.toString() === 'parked-1');
    const review = await world.decode<FraudReview>(FRAUD_REVIEW_SCHEMA, record.value);
    expect(review).toMatchObject({ decision: 'bad', received_at: Date.UTC(2025, 5, 1) });
    expect(log.of(world.letters(reviews))).toHaveLength(2);
  });
});

test('wrong usage is one clear line, and exit code 2', async () => {
  const { created } = world.topics;
  for (const [args, said] of [
    [['list', '--topic', 'nothing'], 'is no dead-letter topic of this configuration'],
    [['list', '--topic', created, '--from', '2099-01-01T00:00:00Z'], 'lies in the future'],
    [['show', '--topic', created, '--offset', 'first'], 'is not partition:offset'],
    [['redrive', '--topic', created, '--reason', 'bad_luck'], 'is no reason'],
    [['redrive', '--topic', created, '--offset', '0:1', '--from', 'earliest'], '--offset names one letter'],
  ] as const) {
    const { code, output } = await dlq(args);
    expect([code, output]).toEqual([2, expect.stringContaining(said) as string]);
  }
});
