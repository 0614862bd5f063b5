import { randomUUID } from 'node:crypto';
import avsc from 'avsc';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { headerTexts } from '../support/topic-log.ts';
import { IllRegistry, type RegistryIllness } from './ill-registry.ts';
import { expectAllSettled, expectNothingTold, StruckWorld } from './struck-world.ts';

let registry: IllRegistry;
let struck: StruckWorld;

beforeAll(async () => {
  const kafka = inject('kafka');
  registry = await IllRegistry.before(kafka.registryUrl);
  const env = { SCHEMA_REGISTRY_URL: registry.url, DEAD_LETTER_MAX_SHARE: '1' };
  struck = await StruckWorld.open({ ...kafka, env });
});
afterAll(async () => {
  await struck.close();
  await registry.close();
});

interface Field {
  readonly name: string;
  readonly type: unknown;
}

/** A schema of a producer that nobody has seen, and what is written with it. */
interface Written {
  readonly id: number;
  readonly type: avsc.Type;
}

async function newSchema(...fields: readonly Field[]): Promise<Written> {
  const name = `Order${randomUUID().replaceAll('-', '')}`;
  const schema = { type: 'record', name, namespace: 'com.shop', fields };
  const id = await struck.world.registry.register(`${name}-value`, schema);
  return { id, type: avsc.Type.forSchema(schema as avsc.Schema) };
}

const ID: Field = { name: 'trans_id', type: 'string' };

/** Twice as many values as one less deep, of which none takes a byte. */
function forkOf(depth: number): object {
  const next = `Fork${String(depth - 1)}`;
  const [left, right] = depth === 0 ? ['null', 'null'] : [forkOf(depth - 1), next];
  const fields = [
    { name: 'left', type: left },
    { name: 'right', type: right },
  ];
  return { type: 'record', name: `Fork${String(depth)}`, fields };
}

function framed(id: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(id, 1);
  return Buffer.concat([head, payload]);
}

/** A payment as Avro of this schema; answers its trans_id. */
async function pay({ id, type }: Written, more: object = {}): Promise<string> {
  const transId = struck.newId();
  const value = framed(id, type.toBuffer({ trans_id: transId, ...more }));
  await struck.world.send(struck.world.topics.created, { key: transId, value });
  return transId;
}

interface Bad {
  readonly is: string;
  readonly fields: readonly Field[];
  readonly payload: (type: avsc.Type) => Buffer;
  readonly reason: string;
  readonly detail: RegExp;
  readonly topic?: 'authorized';
}

const BAD: readonly Bad[] = [
  {
    is: 'with bytes behind its end',
    fields: [ID],
    payload: (type) => Buffer.concat([type.toBuffer({ trans_id: 'a' }), Buffer.of(0)]),
    reason: 'undecodable',
    detail: /^bytes$/,
  },
  {
    is: 'with an id that is no UTF-8',
    fields: [ID],
    payload: () => Buffer.of(4, 0x74, 0xff),
    reason: 'undecodable',
    detail: /^bytes$/,
  },
  {
    is: 'with two thousand million items that take no byte',
    fields: [ID, { name: 'nothings', type: { type: 'array', items: 'null' } }],
    payload: () => Buffer.of(2, 0x61, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0),
    reason: 'undecodable',
    detail: /^bytes$/,
  },
  {
    is: 'with a million records that take no byte',
    fields: [ID, { name: 'nothings', type: { type: 'array', items: { type: 'record', name: 'Nothing', fields: [] } } }],
    payload: () => Buffer.of(2, 0x61, 0x80, 0x89, 0x7a, 0),
    reason: 'undecodable',
    detail: /^bytes$/,
  },
  {
    is: 'with records that have two of the next, forty deep, and no byte',
    fields: [ID, { name: 'forks', type: forkOf(40) }],
    payload: () => Buffer.of(2, 0x61),
    reason: 'undecodable',
    detail: /^bytes$/,
  },
  {
    is: 'with a whole number that no number of JavaScript is',
    fields: [ID, { name: 'latency', type: 'long' }],
    payload: () => Buffer.of(2, 0x74, 0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20),
    reason: 'undecodable',
    detail: /^number$/,
    topic: 'authorized',
  },
  {
    is: 'without a trans_id in its schema',
    fields: [{ name: 'ip', type: 'string' }],
    payload: (type) => type.toBuffer({ ip: '198.51.100.7' }),
    reason: 'schema_incompatible',
    detail: /^schema_\d+:schema$/,
  },
  {
    is: 'with bytes where text is read',
    fields: [ID, { name: 'order_id', type: 'bytes' }],
    payload: (type) => type.toBuffer({ trans_id: 'a', order_id: Buffer.of(1) }),
    reason: 'schema_incompatible',
    detail: /^schema_\d+:bytes_for_string$/,
  },
];

describe('Avro', () => {
  test.for(BAD)('$is is a letter, and the payment behind it is scored', async (bad) => {
    const { id, type } = await newSchema(...bad.fields);
    const key = struck.newId();
    const of = bad.topic ?? 'created';
    const value = framed(id, bad.payload(type));
    await struck.world.send(struck.world.topics[of], { key, value });
    const letter = await struck.letterOf(of, key);
    const headers = headerTexts(letter);
    expect(headers).toMatchObject({ 'dlq.reason': bad.reason, 'dlq.stage': 'read' });
    expect(headers['dlq.detail']).toMatch(bad.detail);
    expect(letter.value).toEqual(value);
    await struck.scored(...(await struck.pay(1)));
  });

  test('with fields that nobody knows is read by those that are known, whatever is in them', async () => {
    const schema = await newSchema(
      { name: 'tags', type: { type: 'map', values: 'string' } },
      { name: 'till', type: 'int' },
      ID,
    );
    const tags = JSON.parse('{"__proto__":"a","constructor":"b"}') as object;
    const transId = await pay(schema, { tags, till: 7 });
    await struck.scored(transId);
    expect(struck.seen(transId)?.requests).toBe(1);
  });
});

const page = (status: number): RegistryIllness => ({ status, body: '<html><body>not here</body></html>' });
const told = (status: number, code: number): RegistryIllness => ({
  status,
  body: JSON.stringify({ error_code: code, message: 'no' }),
});

describe('a registry', () => {
  test('that is away keeps nobody from what it has told before', async () => {
    const schema = await newSchema(ID);
    await struck.scored(await pay(schema));
    registry.illness = 'closes';
    const later = await pay(schema);
    await struck.scored(later, ...(await struck.pay(1)));
    registry.illness = null;
    expect(struck.connector.said('hold_started').map(({ cause }) => cause)).not.toContain('registry');
  });

  test.for([
    ['closes each connection', 'closes'],
    ['takes connections and says nothing', 'hangs'],
    ['refuses the user', told(401, 40_101)],
    ['forbids it', told(403, 40_301)],
    ['wants to be asked less', told(429, 42_901)],
    ['fails', { status: 500, body: 'null' }],
    ['is behind a proxy that finds nobody', page(503)],
    ['is a page of somebody else', page(200)],
    ['is not at this path', page(404)],
    ['has lost all it had', told(404, 40_403)],
  ] as const)('that %s is a hold: a payment of a new schema waits, and is scored afterwards', async ([, illness]) => {
    const schema = await newSchema(ID);
    registry.illness = illness;
    const transId = await pay(schema);
    await eventually('the partition waits for the registry', async () =>
      ((await struck.connector.flow('scoring'))?.waits ?? []).some(({ cause }) => cause === 'registry'),
    );
    registry.illness = null;
    await struck.scored(transId);
    expect(struck.seen(transId)).toMatchObject({ requests: 1, scored: 1 });
  });
});

test('in all of this nothing was lost, each letter was meant, and nothing was told of what was in it', async () => {
  await expectAllSettled(struck);
  expect(struck.reasons.toSorted()).toEqual(BAD.map(({ reason }) => reason).toSorted());
  await expectNothingTold(struck);
});
