import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createSchemaRegistry } from '../../../../src/edges/schema-registry/registry.ts';
import { PAYMENT_CREATED_SCHEMA, type PaymentCreated } from '../../../../src/screening/avro.generated.ts';
import { type Emit } from '../../../../src/kernel/emit.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A registry that holds the schemas given, by id; a status instead of a schema is what it answers. */
async function setup(schemas: Record<number, object | number>) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    asked.push(request.url ?? '');
    const held = schemas[Number(request.url?.split('/').at(-1))] ?? 404;
    const missing = { error_code: 40403, message: 'Schema not found' };
    response.writeHead(typeof held === 'number' ? held : 200);
    response.end(JSON.stringify(held === 404 ? missing : { schema: JSON.stringify(held) }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const clock = new ManualClock();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const emitted: unknown[] = [];
  const emit: Emit = (event, fields) => void emitted.push([event, fields]);
  const registry = createSchemaRegistry({ url, clientId: 'test' }, { clock, emit });
  closing.push(
    async () => await new Promise((resolve) => server.close(resolve)),
    async () => {
      await registry.close();
    },
  );
  return { asked, clock, emitted, registry, decoder: registry.decoder(PAYMENT_CREATED_SCHEMA), schemas };
}

/** Byte 0, the id, then a trans_id alone. */
const value = (id: number, ...payload: number[]): Buffer => Buffer.from([0, 0, 0, 0, id, ...payload]);
const T1 = [4, 0x74, 0x31];
const ORDER = { type: 'record', name: 'Order', fields: [{ name: 'trans_id', type: 'string' }] };

describe('a decoder', () => {
  test('refuses what has no head, without asking', async () => {
    const { asked, decoder } = await setup({});
    for (const bytes of [[], [0], [0, 0, 0, 0], [1, 0, 0, 0, 7], [0, 0, 0, 0, 0, 0]]) {
      expect(decoder.decode(Buffer.from(bytes))).toMatchObject({ do: 'refuse', reason: 'bad_framing' });
    }
    expect(asked).toEqual([]);
  });

  test('asks for a schema once, then decodes without the registry', async () => {
    const { asked, decoder, registry, schemas } = await setup({ 7: ORDER });
    expect(decoder.decode(value(7, ...T1))).toEqual({ do: 'needs', schema: 7 });
    expect(await registry.fetch(7)).toEqual({ do: 'ready' });
    schemas[7] = 500;
    for (let record = 0; record < 3; record += 1) {
      expect(decoder.decode(value(7, ...T1))).toMatchObject({ do: 'value', value: { trans_id: 't1', ip: null } });
    }
    expect(asked).toEqual(['/schemas/ids/7']);
  });

  test('names the schema it cannot read', async () => {
    const { decoder, registry } = await setup({ 7: { ...ORDER, fields: [{ name: 'trans_id', type: 'long' }] } });
    await registry.fetch(7);
    const refusal = { do: 'refuse', reason: 'schema_incompatible', detail: 'schema_7:schema' };
    expect(decoder.decode(value(7, 2))).toEqual(refusal);
  });

  test.each([
    ['cut', [4, 0x74]],
    ['followed by more', [...T1, 0]],
    ['in no UTF-8', [2, 0xff]],
  ])('refuses a value that is %s', async (_, payload) => {
    const { decoder, registry } = await setup({ 7: ORDER });
    await registry.fetch(7);
    expect(decoder.decode(value(7, ...payload))).toEqual({ do: 'refuse', reason: 'undecodable', detail: 'bytes' });
  });

  test('refuses an unknown id after the second 404, while the registry has our own schema', async () => {
    const { clock, decoder, registry } = await setup({ 3: ORDER });
    registry.encoder(ORDER, 3);
    expect(await registry.fetch(9)).toMatchObject({ do: 'wait', why: 'schema_pending' });
    clock.advance(5000);
    expect(await registry.fetch(9)).toEqual({ do: 'ready' });
    expect(decoder.decode(value(9))).toEqual({ do: 'refuse', reason: 'schema_unknown', detail: 'schema_9' });
  });

  test('waits for a registry that restarted empty', async () => {
    const { clock, decoder, registry, schemas } = await setup({ 3: ORDER });
    registry.encoder(ORDER, 3);
    Reflect.deleteProperty(schemas, 3);
    await registry.fetch(9);
    clock.advance(5000);
    expect(await registry.fetch(9)).toMatchObject({ do: 'wait', why: 'registry' });
    expect(decoder.decode(value(9))).toEqual({ do: 'needs', schema: 9 });
  });
});

describe('fields of the writer that our schema does not have', () => {
  const COLOUR = { name: 'colour', type: ['null', 'string'], default: null };
  const wider = { ...ORDER, fields: [...ORDER.fields, COLOUR] };

  test('are reported once for each schema, and counted with each record', async () => {
    const { decoder, emitted, registry } = await setup({ 7: wider, 8: { ...wider, name: 'Other' } });
    await registry.fetch(7);
    await registry.fetch(8);
    for (let record = 0; record < 3; record += 1) decoder.decode(value(7, ...T1, 0));
    decoder.decode(value(8, ...T1, 2, 2, 0x72));
    expect(emitted).toEqual([
      ['writer_fields_dropped', { schema: 7, fields: 1, names: 'colour' }],
      ['writer_fields_dropped', { schema: 8, fields: 1, names: 'colour' }],
    ]);
    expect(registry.fieldsDropped()).toBe(4);
  });

  test('are not dropped where values are read as they were written', async () => {
    const { emitted, registry } = await setup({ 7: wider });
    await registry.fetch(7);
    const read = registry.decoder(null).decode(value(7, ...T1, 2, 2, 0x72));
    expect(read).toEqual({ do: 'value', value: { trans_id: 't1', colour: 'r' } });
    expect([emitted, registry.fieldsDropped()]).toEqual([[], 0]);
  });

  test('are none where the schemas agree', async () => {
    const { decoder, emitted, registry } = await setup({ 7: ORDER });
    await registry.fetch(7);
    decoder.decode(value(7, ...T1));
    expect([emitted, registry.fieldsDropped()]).toEqual([[], 0]);
  });
});

describe('an encoder', () => {
  test('writes the head and the value, and refuses what does not fit', async () => {
    const { registry } = await setup({});
    const encoder = registry.encoder<Pick<PaymentCreated, 'trans_id'>>(ORDER, 258);
    expect([...encoder.encode({ trans_id: 't1' })]).toEqual([0, 0, 0, 1, 2, ...T1]);
    expect(() => encoder.encode({ trans_id: 1 } as unknown as PaymentCreated)).toThrow('invalid');
  });
});

describe('a probe', () => {
  test('asks for one schema of ours, else for the kinds of schemas there are: any answer but a failure will do', async () => {
    const { asked, registry, schemas } = await setup({ 3: ORDER });
    expect(await registry.probe()).toBeNull();
    registry.encoder(ORDER, 3);
    registry.encoder(ORDER, 4);
    for (const status of [200, 401, 403, 404]) {
      schemas[3] = status;
      expect(await registry.probe()).toBeNull();
    }
    expect([...new Set(asked)]).toEqual(['/schemas/types', '/schemas/ids/3']);
    for (const status of [500, 502, 503]) {
      schemas[3] = status;
      expect(await registry.probe()).toBe(`status_${String(status)}`);
    }
  });

  test('tells why there is no answer', async () => {
    const { clock, registry } = await setup({});
    await registry.close();
    expect(await registry.probe()).not.toBeNull();
    const mute = createServer(() => undefined);
    await new Promise<void>((resolve) => {
      mute.listen(0, '127.0.0.1', resolve);
    });
    const url = `http://127.0.0.1:${(mute.address() as AddressInfo).port}`;
    const other = createSchemaRegistry({ url, clientId: 'test' }, { clock });
    closing.push(async () => {
      mute.closeAllConnections();
      await other.close();
      mute.close();
    });
    const probe = other.probe();
    clock.advance(3000);
    expect(await probe).toBe('timeout');
  });
});
