import { describe, expect, test } from 'vitest';
import { subjectsOf, type Subjects } from '../../../../src/edges/schema-registry/subjects.ts';
import { type RegistryAnswer } from '../../../../src/edges/schema-registry/transport.ts';
import { type Fault } from '../../../../src/kernel/fault.ts';

const SCHEMA = { type: 'record', name: 'A', fields: [] };

const answer = (status: number, body: unknown): RegistryAnswer => ({ do: 'answer', status, body });
const FAILED: RegistryAnswer = { do: 'failed', error: 'Error ECONNREFUSED' };

function setup(given: RegistryAnswer) {
  const asked: string[] = [];
  const subjects: Subjects = subjectsOf({
    request: async (method, path, body) => {
      asked.push(`${method} ${path} ${JSON.stringify(body)}`);
      return await Promise.resolve(given);
    },
    exchanges: () => [],
    close: async () => {
      await Promise.resolve();
    },
  });
  return { asked, subjects };
}

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  return await work.then(
    () => {
      throw new Error('did not throw');
    },
    (fault: Fault) => fault,
  );
}

describe('the id of a schema', () => {
  test.each<[string, RegistryAnswer, unknown]>([
    ['no answer', FAILED, { do: 'unreachable', error: 'Error ECONNREFUSED' }],
    ['a 503', answer(503, undefined), { do: 'unreachable', error: 'status 503' }],
    ['a 404 of somebody else', answer(404, undefined), { do: 'unreachable', error: 'status 404' }],
    ['a page', answer(200, undefined), { do: 'unreachable', error: 'not the answer of a registry' }],
    ['an id that is none', answer(200, { id: 0 }), { do: 'unreachable', error: 'not the answer of a registry' }],
    ['an unknown subject', answer(404, { error_code: 40401 }), { do: 'missing' }],
    ['an unknown schema', answer(404, { error_code: 40403 }), { do: 'missing' }],
    ['the id', answer(200, { id: 12, version: 3 }), { do: 'found', id: 12 }],
  ])('from %s', async (_, given, wanted) => {
    expect(await setup(given).subjects.idOf('fraud.scores-value', SCHEMA)).toEqual(wanted);
  });

  test('is asked for without registering anything, the subject escaped', async () => {
    const { asked, subjects } = setup(answer(200, { id: 1 }));
    await subjects.idOf('a/b-value', SCHEMA);
    expect(asked).toEqual([`POST /subjects/a%2Fb-value ${JSON.stringify({ schema: JSON.stringify(SCHEMA) })}`]);
  });
});

describe('registering', () => {
  test.each<[RegistryAnswer, string]>([
    [answer(409, { message: 'secret' }), 'SCHEMA_REFUSED'],
    [answer(422, { message: 'secret' }), 'SCHEMA_REFUSED'],
    [answer(500, { message: 'secret' }), 'REGISTRY_FAILED'],
    [answer(200, {}), 'REGISTRY_FAILED'],
    [FAILED, 'REGISTRY_FAILED'],
  ])('ends with a fault that holds no body (%o: %s)', async (given, code) => {
    const fault = await faultOf(setup(given).subjects.register('s-value', SCHEMA));
    expect(fault.code).toBe(code);
    expect(fault.message).not.toContain('secret');
  });

  test('gives the id', async () => {
    const { asked, subjects } = setup(answer(200, { id: 9 }));
    expect(await subjects.register('s-value', SCHEMA)).toBe(9);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('POST /subjects/s-value/versions ');
  });
});

describe('checking', () => {
  test.each<[RegistryAnswer, string]>([
    [answer(200, { is_compatible: false }), 'SCHEMA_REFUSED'],
    [answer(422, {}), 'SCHEMA_REFUSED'],
    [answer(404, undefined), 'REGISTRY_FAILED'],
    [answer(200, {}), 'REGISTRY_FAILED'],
    [FAILED, 'REGISTRY_FAILED'],
  ])('ends with a fault (%o: %s)', async (given, code) => {
    expect((await faultOf(setup(given).subjects.check('s-value', SCHEMA))).code).toBe(code);
  });

  test('says whether there was anything to compare with', async () => {
    expect(await setup(answer(200, { is_compatible: true })).subjects.check('s', SCHEMA)).toBe('compatible');
    expect(await setup(answer(404, { error_code: 40401 })).subjects.check('s', SCHEMA)).toBe('new');
  });
});
