import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { createSchemaRegistry } from '../../src/edges/schema-registry/registry.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { isFault } from '../../src/kernel/fault.ts';
import { blockWith, pageNamed } from '../support/page-parts.ts';
import { SCHEMA_CHANGES, TODAY, versionsOf } from '../support/schema-changes.ts';

const url = inject('kafka').registryUrl;
const registry = createSchemaRegistry({ url, clientId: 'test' }, { clock: systemClock });

afterAll(async () => {
  await registry.close();
});

type Level = 'BACKWARD' | 'BACKWARD_TRANSITIVE' | 'FULL_TRANSITIVE';

/** A subject that no other test has, at a level of its own; undefined: as the registry is set. */
async function subjectAt(level: Level | undefined): Promise<string> {
  const subject = `test.${randomUUID()}-value`;
  if (level === undefined) return subject;
  const answer = await fetch(`${url}/config/${subject}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify({ compatibility: level }),
  });
  expect(answer.status).toBe(200);
  return subject;
}

/** What the registry says of a schema, and whether it then takes it: it must be the same. */
async function isTaken(subject: string, schema: object): Promise<boolean> {
  const [checked, registered] = [
    (await registry.check(subject, schema)).do !== 'refused',
    await passes(async () => await registry.register(subject, schema)),
  ];
  expect(checked).toBe(registered);
  return checked;
}

async function passes(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (isFault(error, 'SCHEMA_REFUSED')) return false;
    throw error;
  }
}

const order = (...fields: readonly object[]): object => ({ type: 'record', name: 'Order', fields });
const ID = { name: 'id', type: 'string' };
/** What no reader of the newest can read of the first: the field was gone, and came back as something else. */
const RETURNED = [
  order(ID, { name: 'amount', type: 'string' }),
  order(ID),
  order(ID, { name: 'amount', type: 'int', default: 0 }),
];

test.each([
  ['BACKWARD', true, { do: 'fits', level: 'BACKWARD', of: null }],
  ['BACKWARD_TRANSITIVE', false, { do: 'refused', version: 1 }],
] as const)(
  'what goes with the latest version alone is told as a registration does: %s',
  async (level, takes, told) => {
    const subject = await subjectAt(level);
    const [first = {}, second = {}, third = {}] = RETURNED;
    for (const schema of [first, second]) await registry.register(subject, schema);
    expect(await registry.check(subject, third)).toEqual(told);
    expect(await passes(async () => await registry.register(subject, third))).toBe(takes);
  },
);

test('what goes with every version says with how many', async () => {
  const subject = await subjectAt('BACKWARD_TRANSITIVE');
  const [first = {}, second = {}] = RETURNED;
  await registry.register(subject, first);
  expect(await registry.check(subject, second)).toEqual({ do: 'fits', level: 'BACKWARD_TRANSITIVE', of: 1 });
});

const changes = SCHEMA_CHANGES.map((change) => [change.of, change.name, change] as const);

describe.each(changes)('%s: %s', (of, _name, { newer, isReadByOlder, readsOlder }) => {
  test('is taken as the registry is set if newer readers read older records', async () => {
    const subject = await subjectAt(undefined);
    await registry.register(subject, TODAY[of]);
    expect(await isTaken(subject, newer)).toBe(readsOlder);
  });

  test('is taken at FULL_TRANSITIVE if older readers read newer records, too', async () => {
    const subject = await subjectAt('FULL_TRANSITIVE');
    await registry.register(subject, TODAY[of]);
    expect(await isTaken(subject, newer)).toBe(readsOlder && isReadByOlder);
  });
});

test.each(['FraudReview', 'FraudScore'] as const)(
  'at FULL_TRANSITIVE all allowed changes of %s are taken one after another',
  async (of) => {
    const subject = await subjectAt('FULL_TRANSITIVE');
    for (const version of versionsOf(of)) expect(await isTaken(subject, version)).toBe(true);
  },
);

test('the command of docs/schemas.md sets the level, and the level is what it says', async () => {
  const subject = await subjectAt(undefined);
  const scores = await subjectAt(undefined);
  const command = blockWith(pageNamed('schemas.md'), '--compatibility FULL_TRANSITIVE');
  const [TOPIC_SCORES, TOPIC_REVIEWS] = [scores, subject].map((of) => of.replace(/-value$/, ''));
  const env = { ...process.env, SCHEMA_REGISTRY_URL: url, TOPIC_SCORES, TOPIC_REVIEWS };
  await promisify(execFile)('bash', ['-euc', command], { env });
  const { newer = {} } = SCHEMA_CHANGES.find(({ name }) => name === 'widen a number') ?? {};
  expect(await isTaken(subject, newer)).toBe(false);
  const config = (await (await fetch(`${url}/config/${scores}`)).json()) as object;
  expect(config).toEqual({ compatibilityLevel: 'FULL_TRANSITIVE' });
});
