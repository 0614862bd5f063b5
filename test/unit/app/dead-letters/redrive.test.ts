import { describe, expect, test } from 'vitest';
import { type SourceRecord } from '../../../../src/engine/ports.ts';
import { LETTERS, RedriveWorld } from '../../../support/redrive-world.ts';
import { UPDATES } from '../../../support/replay-world.ts';

/** Updates of these ids, none of which the service has. */
function worldOf(...ids: readonly string[]): { world: RedriveWorld; updates: readonly SourceRecord[] } {
  const world = new RedriveWorld();
  for (const id of ids) world.write(id);
  return { world, updates: world.broker.records(UPDATES) };
}

const sentIds = ({ service }: RedriveWorld): readonly string[] => service.sent.map(({ id }) => id);

describe('a letter stays where it is', () => {
  test('that has no headers of a letter, or is of another topic', async () => {
    const { world, updates } = worldOf('a');
    world.broker.append(LETTERS, 0, { value: 'b s9' });
    world.letter({ ...(updates[0] as SourceRecord), topic: 'others' });
    const report = await world.finishRedrive(world.redrive());
    expect([report.left, world.service.sent]).toEqual([{ not_a_letter: 2 }, []]);
  });

  test('that is a pointer to what has expired', async () => {
    const { world, updates } = worldOf('a', 'b');
    for (const update of updates) world.letter(update, { isPointer: true });
    world.broker.expire(UPDATES, 0, 1n);
    const report = await world.finishRedrive(world.redrive());
    expect([report.left, sentIds(world)]).toEqual([{ source_gone: 1 }, ['b']]);
  });
});

test('a pointer is left whose place holds another record than the one it was written of', async () => {
  const { world, updates } = worldOf('a', 'b');
  const [first] = updates as [SourceRecord];
  world.letter({ ...first, timestampMs: first.timestampMs + 1 }, { isPointer: true });
  const report = await world.finishRedrive(world.redrive());
  expect([report.left, world.service.sent]).toEqual([{ source_gone: 1 }, []]);
});

describe('a letter is passed over', () => {
  test('that has another reason, another transaction, or is beyond the limit', async () => {
    const { world, updates } = worldOf('a', 'b', 'c');
    for (const [index, update] of updates.entries()) world.letter(update, { at: 10 - index });
    const one = await world.finishRedrive(world.redrive({ transIds: new Set(['b']) }));
    expect([one.skipped, sentIds(world)]).toEqual([{ not_asked_for: 2 }, ['b']]);
    const none = await world.finishRedrive(world.redrive({ id: 'y', reason: 'status_422', dryRun: true }));
    expect([none.skipped, none.sent]).toEqual([{ not_asked_for: 3 }, 0]);
  });

  test.each(['ambiguous_then_refused', 'unusable_answer', 'timed_out', 'connection_failed'] as const)(
    'that may be about a payment which is scored already (%s), unless it is asked for by its reason',
    async (reason) => {
      const { world, updates } = worldOf('a', 'b');
      const letter = { reason, stage: 'score' } as const;
      world.letter(updates[0] as SourceRecord, { letter });
      world.letter(updates[1] as SourceRecord);
      const without = await world.finishRedrive(world.redrive());
      expect([without.skipped, sentIds(world)]).toEqual([{ maybe_scored: 1 }, ['b']]);
      const named = await world.finishRedrive(world.redrive({ reason: letter.reason, dryRun: true }));
      expect([named.sent, named.skipped]).toEqual([1, { not_asked_for: 1 }]);
    },
  );

  test('beyond the limit: the oldest go first', async () => {
    const { world, updates } = worldOf('a', 'b', 'c');
    for (const [index, update] of updates.entries()) world.letter(update, { at: 10 - index });
    const report = await world.finishRedrive(world.redrive({ limit: 2 }));
    expect([report.skipped, sentIds(world)]).toEqual([{ not_asked_for: 1 }, ['b', 'c']]);
  });

  test('where a newer letter is about the same record: it is sent once', async () => {
    const { world, updates } = worldOf('a');
    for (const at of [1, 2, 3]) world.letter(updates[0] as SourceRecord, { at });
    const report = await world.finishRedrive(world.redrive());
    expect([report.skipped, sentIds(world)]).toEqual([{ newer_letter: 2 }, ['a']]);
  });

  test('where a newer update is in the topic', async () => {
    const { world, updates } = worldOf('a', 'b');
    for (const update of updates.slice(0, 2)) world.letter(update);
    world.write('a');
    const report = await world.finishRedrive(world.redrive());
    expect([report.skipped, sentIds(world)]).toEqual([{ newer_exists: 1 }, ['b']]);
  });

  test('but not where what is newer can go nowhere', async () => {
    const { world, updates } = worldOf('a');
    world.letter(updates[0] as SourceRecord);
    world.broker.append(UPDATES, 0, { key: 'a', value: 'a' });
    const report = await world.finishRedrive(world.redrive());
    expect([report.sent, sentIds(world)]).toEqual([1, ['a']]);
  });
});

describe('a redrive', () => {
  test('of an empty range says so', async () => {
    const world = new RedriveWorld();
    expect((await world.finishRedrive(world.redrive())).result).toBe('empty');
  });

  test('in a dry run says by day and reason what would be sent, and what would be a letter again; sends nothing', async () => {
    const { world, updates } = worldOf('a', 'b');
    for (const update of updates) world.letter(update, { at: Date.UTC(2026, 0, 2) });
    world.broker.append(UPDATES, 0, { key: 'c', value: 'c' });
    world.letter(world.broker.records(UPDATES)[2] as SourceRecord, {
      letter: { reason: 'not_an_object', stage: 'read' },
    });
    const before = world.broker.records(LETTERS).length;
    const report = await world.finishRedrive(world.redrive({ dryRun: true }));
    expect(report).toMatchObject({
      result: 'dry_run',
      sent: 2,
      deadLettered: { not_an_object: 1 },
      wouldSend: [{ day: '2026-01-02', reason: 'status_400', letters: 2 }],
    });
    expect([world.service.sent, world.broker.records(LETTERS).length]).toEqual([[], before]);
    expect(world.broker.committed('live-redrive-x', LETTERS, 0)).toBeNull();
  });

  test('writes a letter behind the old one where it fails again, once, and ends: its own letters are not in its range', async () => {
    const { world } = worldOf();
    world.broker.append(UPDATES, 0, { key: 'c', value: 'c' });
    world.letter(world.broker.records(UPDATES)[0] as SourceRecord);
    const report = await world.finishRedrive(world.redrive());
    const letters = world.broker.records(LETTERS);
    expect(report.deadLettered).toEqual({ not_an_object: 1 });
    expect(letters.map(({ headers }) => String(headers['dlq.attempts']))).toEqual(['1', '2']);
    expect(letters[1]?.headers).toMatchObject({ 'dlq.source.topic': UPDATES, 'dlq.source.offset': '0' });
    expect(world.broker.records(UPDATES)).toHaveLength(1);
  });

  test('that was stopped is resumed under its id with the same options, and refused with others', async () => {
    const { world, updates } = worldOf(...Array.from({ length: 40 }, (_, index) => `id-${String(index)}`));
    for (const update of updates) world.letter(update);
    const first = world.redrive();
    for (let steps = 0; world.service.sent.length < 5; steps += 1) {
      world.service.requests[0]?.carryOut();
      await world.step([first]);
      if (steps > 500) throw new Error('nothing is sent');
    }
    first.stop.ask('SIGTERM');
    const stopped = await world.finishRedrive(first);
    expect(stopped.result).toBe('stopped');
    expect(world.service.sent.length).toBeLessThan(40);
    const other = world.redrive({ limit: 39 });
    await expect(world.finishRedrive(other)).rejects.toMatchObject({ code: 'USAGE' });
    const again = await world.finishRedrive(world.redrive());
    expect(again).toMatchObject({ result: 'done', resumed: true });
    expect(sentIds(world).toSorted()).toEqual(updates.map(({ key }) => String(key)).toSorted());
    await expect(world.finishRedrive(world.redrive())).rejects.toMatchObject({
      message: 'The redrive x has come to its end already. Give another --id',
    });
  });

  test('sends what became newer meanwhile after its own, so that nothing older stays', async () => {
    const { world, updates } = worldOf('a');
    world.letter(updates[0] as SourceRecord);
    const process = world.redrive();
    for (let steps = 0; world.service.requests.length === 0; steps += 1) {
      await world.step([process]);
      if (steps > 500) throw new Error('nothing is sent');
    }
    const newer = world.write('a');
    // The live group delivers it first.
    world.service.statuses.set('a', newer);
    const report = await world.finishRedrive(process);
    expect(world.service.statuses.get('a')).toBe(newer);
    expect(report).toMatchObject({ sent: 1, repaired: 1, unsettled: 0 });
  });
});
