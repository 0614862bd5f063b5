import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import avsc from 'avsc';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { createSchemaRegistry } from '../../src/edges/schema-registry/registry.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { isFault } from '../../src/kernel/fault.ts';
import {
  FRAUD_REVIEW_SCHEMA,
  FRAUD_SCORE_SCHEMA,
  PAYMENT_AUTHORIZED_SCHEMA,
  PAYMENT_CREATED_SCHEMA,
} from '../../src/screening/avro.generated.ts';
import { ManualClock } from '../support/manual-clock.ts';

const url = inject('kafka').registryUrl;
const registry = createSchemaRegistry({ url, clientId: 'test' }, { clock: systemClock });

afterAll(async () => {
  await registry.close();
});

/** A subject that no other test has. */
const subject = (): string => `test.${randomUUID()}-value`;

const shop = (...fields: object[]): object => ({
  type: 'record',
  name: 'Order',
  namespace: 'com.shop',
  fields: [{ name: 'trans_id', type: 'string' }, ...fields],
});

describe('the real registry', () => {
  test('does not know a schema before it is registered, and knows it by one id afterwards', async () => {
    for (const schema of [PAYMENT_CREATED_SCHEMA, PAYMENT_AUTHORIZED_SCHEMA, FRAUD_SCORE_SCHEMA, FRAUD_REVIEW_SCHEMA]) {
      const name = subject();
      expect(await registry.idOf(name, schema)).toEqual({ do: 'missing' });
      expect(await registry.check(name, schema)).toEqual({ do: 'new' });
      const id = await registry.register(name, schema);
      expect(await registry.register(name, schema)).toBe(id);
      expect(await registry.idOf(name, schema)).toEqual({ do: 'found', id });
      expect(await registry.check(name, schema)).toMatchObject({ do: 'fits' });
    }
  });

  test('does not know another version of a schema it holds', async () => {
    const name = subject();
    await registry.register(name, shop());
    expect(await registry.idOf(name, shop({ name: 'ip', type: 'string', default: '' }))).toEqual({ do: 'missing' });
  });

  test('refuses what older values cannot be read with', async () => {
    const name = subject();
    await registry.register(name, shop());
    const breaking = shop({ name: 'ip', type: 'string' });
    expect(await registry.check(name, breaking)).toMatchObject({ do: 'refused' });
    await expect(registry.register(name, breaking)).rejects.toSatisfy((fault) => isFault(fault, 'SCHEMA_REFUSED'));
  });

  test("gives a producer's schema, with which its values are read", async () => {
    const line = { type: 'record', name: 'Line', fields: [{ name: 'item_amt', type: 'double' }] };
    const schema = shop({ name: 'items', type: { type: 'array', items: line } });
    const id = await registry.register(subject(), schema);
    const value = { trans_id: 't-1', items: [{ item_amt: 9.99 }] };
    const framed = Buffer.concat([
      Buffer.from([0, 0, 0, 0, 0]),
      avsc.Type.forSchema(schema as avsc.Schema).toBuffer(value),
    ]);
    framed.writeInt32BE(id, 1);
    const decoder = registry.decoder(PAYMENT_CREATED_SCHEMA);
    expect(decoder.decode(framed)).toEqual({ do: 'needs', schema: id });
    expect(await registry.fetch(id)).toEqual({ do: 'ready' });
    expect(decoder.decode(framed)).toMatchObject({ do: 'value', value });
  });

  test('says twice that an id is unknown before a record is refused for it', async () => {
    const clock = new ManualClock();
    const other = createSchemaRegistry({ url, clientId: 'test' }, { clock });
    try {
      const name = subject();
      await registry.register(name, shop());
      expect(await other.idOf(name, shop())).toMatchObject({ do: 'found' });
      const unknown = 2 ** 31 - 1;
      expect(await other.fetch(unknown)).toMatchObject({ do: 'wait', why: 'schema_pending' });
      clock.advance(5000);
      expect(await other.fetch(unknown)).toEqual({ do: 'ready' });
      const framed = Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]);
      expect(other.decoder(PAYMENT_CREATED_SCHEMA).decode(framed)).toMatchObject({ reason: 'schema_unknown' });
    } finally {
      await other.close();
    }
  });

  test('behind a wrong path is unreachable, not a registry without schemas', async () => {
    const wrong = new URL(url);
    wrong.pathname = '/apis/nothing/v0';
    const other = createSchemaRegistry({ url: wrong.href, clientId: 'test' }, { clock: systemClock });
    try {
      expect(await other.idOf(subject(), shop())).toMatchObject({ do: 'unreachable' });
      expect(await other.fetch(1)).toMatchObject({ do: 'wait', why: 'registry' });
    } finally {
      await other.close();
    }
  });
});
