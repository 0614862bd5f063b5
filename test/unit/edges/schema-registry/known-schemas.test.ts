import avsc from 'avsc';
import { describe, expect, test } from 'vitest';
import { KnownSchemas } from '../../../../src/edges/schema-registry/known-schemas.ts';
import { type LookUp } from '../../../../src/edges/schema-registry/look-up.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const FOUND: LookUp = { do: 'type', type: avsc.Type.forSchema('string') };
const ABSENT: LookUp = { do: 'absent' };
const FAILED: LookUp = { do: 'failed', error: 'ECONNREFUSED' };

/** A registry that gives the answers in their order, the last one for ever. */
function setup(...answers: LookUp[]) {
  const clock = new ManualClock();
  const registry = { looks: 0, isWell: true };
  const schemas = new KnownSchemas({
    lookUp: async () => {
      registry.looks += 1;
      await settled();
      return answers[Math.min(registry.looks, answers.length) - 1] ?? FAILED;
    },
    isWell: async () => await Promise.resolve(registry.isWell),
    clock,
  });
  return { clock, registry, schemas };
}

describe('a schema id the registry does not know', () => {
  test('waits after the first 404', async () => {
    const { schemas } = setup(ABSENT);
    expect(await schemas.fetch(7)).toEqual({ do: 'wait', forMs: 5000, why: 'schema_pending' });
    expect(schemas.get(7)).toBeUndefined();
  });

  test('waits after a second 404 that came too early', async () => {
    const { clock, schemas } = setup(ABSENT);
    await schemas.fetch(7);
    clock.advance(4999);
    expect(await schemas.fetch(7)).toEqual({ do: 'wait', forMs: 1, why: 'schema_pending' });
  });

  test('is absent after a second 404 from a registry that is well', async () => {
    const { clock, schemas } = setup(ABSENT);
    await schemas.fetch(7);
    clock.advance(5000);
    expect(await schemas.fetch(7)).toEqual({ do: 'ready' });
    expect(schemas.get(7)).toMatchObject({ do: 'absent' });
  });

  test('waits for the registry that has lost our own schemas, however often it says 404', async () => {
    const { clock, registry, schemas } = setup(ABSENT);
    registry.isWell = false;
    await schemas.fetch(7);
    for (let look = 0; look < 5; look += 1) {
      clock.advance(60_000);
      expect(await schemas.fetch(7)).toMatchObject({ do: 'wait', why: 'registry' });
    }
    expect(schemas.get(7)).toBeUndefined();
  });

  test('is asked for again a minute later, since it may have been registered', async () => {
    const { clock, schemas } = setup(ABSENT, ABSENT, FOUND);
    await schemas.fetch(7);
    clock.advance(5000);
    await schemas.fetch(7);
    clock.advance(59_999);
    expect(schemas.get(7)).toMatchObject({ do: 'absent' });
    clock.advance(1);
    expect(schemas.get(7)).toBeUndefined();
    expect(await schemas.fetch(7)).toEqual({ do: 'ready' });
    expect(schemas.get(7)).toBe(FOUND);
  });

  test('is known as soon as it is registered', async () => {
    const { clock, schemas } = setup(ABSENT, FOUND);
    await schemas.fetch(7);
    clock.advance(5000);
    await schemas.fetch(7);
    expect(schemas.get(7)).toBe(FOUND);
  });
});

describe('a registry that does not answer', () => {
  test('is a wait that grows, and never says anything of the record', async () => {
    const { clock, schemas } = setup(FAILED);
    const waits: unknown[] = [];
    for (let look = 0; look < 7; look += 1) {
      const fetched = await schemas.fetch(7);
      expect(fetched).toMatchObject({ do: 'wait', why: 'registry' });
      waits.push(fetched.do === 'wait' && fetched.forMs);
      clock.advance(60_000);
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
  });

  test('between two 404s changes nothing: the second still counts from the first', async () => {
    const { clock, schemas } = setup(ABSENT, FAILED, ABSENT);
    await schemas.fetch(7);
    clock.advance(3000);
    expect(await schemas.fetch(7)).toMatchObject({ why: 'registry' });
    clock.advance(3000);
    expect(await schemas.fetch(7)).toEqual({ do: 'ready' });
  });
});

describe('a schema', () => {
  test('is fetched once by all who ask at a time, and not again', async () => {
    const { registry, schemas } = setup(FOUND);
    const fetched = await Promise.all(Array.from({ length: 20 }, async () => await schemas.fetch(7)));
    expect(new Set(fetched.map((answer) => answer.do))).toEqual(new Set(['ready']));
    await schemas.fetch(7);
    expect(registry.looks).toBe(1);
  });

  test('that cannot be read is known as such', async () => {
    const { schemas } = setup({ do: 'unreadable' });
    expect(await schemas.fetch(7)).toEqual({ do: 'ready' });
    expect(schemas.get(7)).toEqual({ do: 'unreadable' });
  });

  test('is forgotten when a thousand others were used since, and fetched again', async () => {
    const { schemas } = setup(FOUND);
    for (let id = 1; id <= 1001; id += 1) await schemas.fetch(id);
    expect(schemas.get(1)).toBeUndefined();
    expect(schemas.get(2)).toBe(FOUND);
  });
});
