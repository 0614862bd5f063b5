import { describe, expect, test } from 'vitest';
import { lookUp, type LookUp } from '../../../../src/edges/schema-registry/look-up.ts';
import { type RegistryAnswer, type RegistryTransport } from '../../../../src/edges/schema-registry/transport.ts';

const SCHEMA = JSON.stringify({ type: 'record', name: 'Order', fields: [{ name: 'trans_id', type: 'string' }] });

const answer = (status: number, body: unknown): RegistryAnswer => ({ do: 'answer', status, body });

/** Answers by path; what is not listed is a 404 of the registry. */
function transportOf(answers: Record<string, RegistryAnswer>, asked: string[] = []): RegistryTransport {
  return {
    request: async (_, path) => {
      asked.push(path);
      return await Promise.resolve(answers[path] ?? answer(404, { error_code: 40403, message: 'Schema not found' }));
    },
    exchanges: () => [],
    close: async () => {
      await Promise.resolve();
    },
  };
}

async function looked(found: RegistryAnswer): Promise<LookUp> {
  return await lookUp(transportOf({ '/schemas/ids/7': found }), 7);
}

describe('the look for a schema', () => {
  test.each<[string, RegistryAnswer, LookUp]>([
    ['a 404 of the registry', answer(404, { error_code: 40403 }), { do: 'absent' }],
    ['a 404 of somebody else', answer(404, undefined), { do: 'failed', error: 'status 404' }],
    ['a refused connection', { do: 'failed', error: 'ECONNREFUSED' }, { do: 'failed', error: 'ECONNREFUSED' }],
    ['a time-out', { do: 'failed', error: 'timeout' }, { do: 'failed', error: 'timeout' }],
    ['a 500 with null for a body', answer(500, null), { do: 'failed', error: 'status 500' }],
    ['a 503 in HTML', answer(503, undefined), { do: 'failed', error: 'status 503' }],
    ['a 401', answer(401, { error_code: 40101 }), { do: 'failed', error: 'status 401' }],
    ['a 200 that is no schema', answer(200, null), { do: 'failed', error: 'no schema in the answer' }],
    ['a page in place of a registry', answer(200, undefined), { do: 'failed', error: 'no schema in the answer' }],
    ['a schema that is no JSON', answer(200, { schema: '{' }), { do: 'unreadable' }],
    ['a schema of no type', answer(200, { schema: '{"type":"reckord","name":"A"}' }), { do: 'unreadable' }],
    ['a JSON schema', answer(200, { schema: '{"type":"object"}', schemaType: 'JSON' }), { do: 'unreadable' }],
    ['Protobuf', answer(200, { schema: 'syntax = "proto3";', schemaType: 'PROTOBUF' }), { do: 'unreadable' }],
  ])('tells %s', async (_, found, wanted) => {
    expect(await looked(found)).toEqual(wanted);
  });

  test('gives the type of an Avro schema', async () => {
    for (const body of [{ schema: SCHEMA }, { schema: SCHEMA, schemaType: 'AVRO' }]) {
      const found = await looked(answer(200, body));
      expect(found.do === 'type' && found.type.name).toBe('Order');
    }
  });

  test('follows references', async () => {
    const order = { type: 'record', name: 'Order', fields: [{ name: 'line', type: 'shop.Line' }] };
    const line = { type: 'record', name: 'shop.Line', fields: [{ name: 'amount', type: 'double' }] };
    const references = [{ name: 'shop.Line', subject: 'shop/Line', version: 2 }];
    const asked: string[] = [];
    const found = await lookUp(
      transportOf(
        {
          '/schemas/ids/7': answer(200, { schema: JSON.stringify(order), references }),
          '/subjects/shop%2FLine/versions/2?name=shop.Line': answer(200, { schema: JSON.stringify(line) }),
        },
        asked,
      ),
      7,
    );
    expect(asked).toEqual(['/schemas/ids/7', '/subjects/shop%2FLine/versions/2?name=shop.Line']);
    expect(found.do === 'type' && found.type.toBuffer({ line: { amount: 1 } })).toHaveLength(8);
  });

  test('does not call an id absent because a reference is', async () => {
    const references = [{ name: 'Line', subject: 'lines', version: 1 }];
    expect(await looked(answer(200, { schema: SCHEMA, references }))).toEqual({ do: 'failed', error: 'status 404' });
  });
});
