import { describe, expect, test } from 'vitest';
import { subjectsOf, type Subjects } from '../../../../src/edges/schema-registry/subjects.ts';
import { type RegistryAnswer } from '../../../../src/edges/schema-registry/transport.ts';
import { type Fault } from '../../../../src/kernel/fault.ts';

const SCHEMA = { type: 'record', name: 'A', fields: [] };

const answer = (status: number, body: unknown): RegistryAnswer => ({ do: 'answer', status, body });
const FAILED: RegistryAnswer = { do: 'failed', error: 'Error ECONNREFUSED' };

function setup(given: RegistryAnswer | ((path: string) => RegistryAnswer)) {
  const asked: string[] = [];
  const subjects: Subjects = subjectsOf({
    request: async (method, path, body) => {
      asked.push(`${method} ${path} ${JSON.stringify(body)}`);
      return await Promise.resolve(typeof given === 'function' ? given(path) : given);
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

/** A registry with versions of one subject, and what it says of each of them and of its level. */
function held(
  versions: readonly number[],
  over: {
    readonly config?: RegistryAnswer;
    readonly global?: RegistryAnswer;
    readonly fits?: (version: string) => RegistryAnswer;
  } = {},
) {
  const fits = over.fits ?? (() => answer(200, { is_compatible: true }));
  return setup((path) => {
    if (path === '/config/s') return over.config ?? answer(404, { error_code: 40408 });
    if (path === '/config') return over.global ?? answer(200, { compatibilityLevel: 'BACKWARD' });
    if (path === '/subjects/s/versions') return answer(200, versions);
    if (path === '/subjects/s/versions/latest')
      return versions.length === 0 ? answer(404, { error_code: 40401 }) : answer(200, {});
    return fits(path.split('/').at(-1) ?? '');
  });
}

const level = (of: string): { readonly config: RegistryAnswer } => ({
  config: answer(200, { compatibilityLevel: of }),
});
const asksFor = (asked: readonly string[]): readonly string[] =>
  asked.flatMap((line) => /^POST \/compatibility\/subjects\/s\/versions\/(\S+)/.exec(line)?.[1] ?? []);

describe('the compatibility level', () => {
  test("is the subject's own, else the one of all subjects; null where neither can be read", async () => {
    expect(await held([1], level('NONE')).subjects.level('s')).toBe('NONE');
    expect(await held([1]).subjects.level('s')).toBe('BACKWARD');
    expect(await held([1], { global: answer(403, {}) }).subjects.level('s')).toBeNull();
  });

  test('is set for one subject', async () => {
    const { asked, subjects } = setup(answer(200, { compatibility: 'FULL_TRANSITIVE' }));
    await subjects.setLevel('a/b-value', 'FULL_TRANSITIVE');
    expect(asked).toEqual(['PUT /config/a%2Fb-value {"compatibility":"FULL_TRANSITIVE"}']);
  });

  test.each<RegistryAnswer>([answer(403, { message: 'secret' }), answer(500, {}), FAILED])(
    'that cannot be set is a fault that holds no body: %o',
    async (given) => {
      const fault = await faultOf(setup(given).subjects.setLevel('s-value', 'FULL'));
      expect(fault.code).toBe('REGISTRY_FAILED');
      expect(fault.message).not.toContain('secret');
    },
  );
});

describe('checking', () => {
  test.each<[string, RegistryAnswer]>([
    ['no answer of its own', answer(404, undefined)],
    ['no word', answer(200, {})],
    ['no connection', FAILED],
  ])('ends with a fault where there is %s', async (_, given) => {
    const { subjects } = held([1], { fits: () => given });
    expect((await faultOf(subjects.check('s', SCHEMA))).code).toBe('REGISTRY_FAILED');
  });

  test('ends with a fault where the level or the versions do not come', async () => {
    expect((await faultOf(held([1], { config: FAILED }).subjects.check('s', SCHEMA))).code).toBe('REGISTRY_FAILED');
    const { subjects } = setup((path) =>
      path === '/config/s'
        ? answer(200, { compatibilityLevel: 'FULL_TRANSITIVE' })
        : answer(200, { is_compatible: true }),
    );
    expect((await faultOf(subjects.check('s', SCHEMA))).code).toBe('REGISTRY_FAILED');
  });

  test('is new where nothing is there, whatever would be said of its compatibility', async () => {
    expect(await held([]).subjects.check('s', SCHEMA)).toEqual({ do: 'new' });
  });

  test.each(['NONE', 'BACKWARD', 'FORWARD', 'FULL'])('at %s the latest version alone counts', async (of) => {
    const { asked, subjects } = held([1, 2, 5], level(of));
    expect(await subjects.check('s', SCHEMA)).toEqual({ do: 'fits', level: of, of: null });
    expect(asksFor(asked)).toEqual(['latest']);
  });

  test.each(['BACKWARD_TRANSITIVE', 'FORWARD_TRANSITIVE', 'FULL_TRANSITIVE'])(
    'at %s every version does',
    async (of) => {
      const { asked, subjects } = held([1, 2, 5], level(of));
      expect(await subjects.check('s', SCHEMA)).toEqual({ do: 'fits', level: of, of: 3 });
      expect(asksFor(asked)).toEqual(['5', '2', '1']);
    },
  );

  test('names the newest version that it does not go with', async () => {
    const answers: Readonly<Record<string, RegistryAnswer>> = {
      5: answer(200, { is_compatible: true }),
      2: answer(200, { is_compatible: false }),
    };
    const { subjects } = held([1, 2, 5], {
      ...level('FULL_TRANSITIVE'),
      fits: (version) => answers[version] ?? answer(422, {}),
    });
    expect(await subjects.check('s', SCHEMA)).toEqual({ do: 'refused', version: 2 });
    const latest = held([1, 2], { fits: () => answer(200, { is_compatible: false }) });
    expect(await latest.subjects.check('s', SCHEMA)).toEqual({ do: 'refused', version: null });
  });

  test('takes the level for all where the subject has none, and none where it may not be read', async () => {
    const global = answer(200, { compatibilityLevel: 'FULL_TRANSITIVE' });
    expect(await held([1], { global }).subjects.check('s', SCHEMA)).toMatchObject({ level: 'FULL_TRANSITIVE', of: 1 });
    const hidden = held([1], { config: answer(403, {}), global: answer(403, {}) });
    expect(await hidden.subjects.check('s', SCHEMA)).toEqual({ do: 'fits', level: null, of: null });
  });
});
