import { describe, expect, test } from 'vitest';
import { LIVE, ReplayWorld, UPDATES } from '../../../support/replay-world.ts';

/** What was sent, as `id status`. */
function sent(world: ReplayWorld): readonly string[] {
  return world.service.sent.map(({ id, status }) => `${id} ${status}`);
}

describe('what a replay does not do', () => {
  test('it sends nothing, and reads nothing, where the range is empty, and says so', async () => {
    const world = new ReplayWorld(2);
    const process = world.start();
    expect(await world.finish(process)).toMatchObject({ result: 'empty', read: 0, sent: 0 });
    expect(process.sources).toEqual([]);
  });

  test('it sends nothing of a range with more transactions than it can keep in mind', async () => {
    const world = new ReplayWorld();
    for (let id = 0; id < 30; id += 1) world.write(String(id));
    await expect(world.finish(world.start({}, { mostIds: 20 }))).rejects.toThrow(/more than 20 transactions/);
    expect(world.service.sent).toEqual([]);
  });

  test('it sends nothing where updates of a transaction lie in two partitions, but by force: then the later one', async () => {
    const world = new ReplayWorld(2);
    world.write('a', 1);
    const later = world.write('a', 0);
    await expect(world.finish(world.start())).rejects.toThrow(/1 transactions .* more than one partition/);
    expect(world.service.sent).toEqual([]);
    expect(await world.finish(world.start({}, { force: true }))).toMatchObject({ sent: 1, inSeveralPartitions: 1 });
    expect(sent(world)).toEqual([`a ${later}`]);
  });

  test('it never touches the live group', async () => {
    const world = new ReplayWorld();
    for (let id = 0; id < 30; id += 1) world.write(String(id));
    world.goneLive(0, 7n);
    const report = await world.finish(world.start());
    expect(world.broker.committed(LIVE, UPDATES, 0)?.offset).toBe(7n);
    expect(report.liveBehind).toBe(23);
  });

  test('a dry run sends nothing, commits nothing, and tells what would go', async () => {
    const world = new ReplayWorld();
    world.write('a');
    const newest = [world.write('b'), world.write('a')];
    world.broker.append(UPDATES, 0, { value: 'broken' });
    world.broker.append(UPDATES, 0, { value: null });
    const process = world.start({}, { dryRun: true });
    expect(await world.finish(process)).toMatchObject({
      result: 'dry_run',
      read: 5,
      sent: 2,
      skipped: { newer_exists: 1, tombstone: 1 },
      deadLettered: { not_an_object: 1 },
      wouldSend: newest.map((status) => ({ day: '2026-03-01', status, updates: 1 })),
    });
    expect(process.ids).toEqual(['b', 'a']);
    expect(world.service.sent).toEqual([]);
    expect(process.letters).toEqual([]);
    expect(world.broker.committed('live-replay-x', UPDATES, 0)).toBeNull();
  });
});

describe('a replay', () => {
  test('sends the newest update of each transaction, and counts the others', async () => {
    const world = new ReplayWorld(2);
    for (let round = 0; round < 3; round += 1) for (let id = 0; id < 20; id += 1) world.write(String(id), id % 2);
    const report = await world.finish(world.start());
    expect(report).toMatchObject({ result: 'done', read: 60, sent: 20, skipped: { newer_exists: 40 }, repaired: 0 });
    expect(world.service.statuses).toEqual(world.newest());
  });

  test('leaves a transaction with a newer update behind the range to the live group', async () => {
    const world = new ReplayWorld();
    world.write('a');
    const b = world.write('b');
    world.write('a');
    const report = await world.finish(world.start({ to: '0:2' }));
    expect(report).toMatchObject({ read: 2, sent: 1, skipped: { newer_exists: 1 } });
    expect(sent(world)).toEqual([`b ${b}`]);
  });

  test('sends whole histories in their order when it is told to', async () => {
    const world = new ReplayWorld();
    const all = ['a', 'b', 'a'].map((id) => `${id} ${world.write(id)}`);
    const report = await world.finish(world.start({ everyUpdate: true }, { force: true }));
    expect(report).toMatchObject({ sent: 3, skipped: {} });
    expect(sent(world)).toEqual(all);
  });

  test('sends only the ids it is given, and makes no letters of what has none', async () => {
    const world = new ReplayWorld();
    world.write('a');
    const b = world.write('b');
    world.broker.append(UPDATES, 0, { value: 'broken' });
    const process = world.start({ transIds: ['b'] });
    expect(await world.finish(process)).toMatchObject({ sent: 1, skipped: { out_of_range: 2 }, deadLettered: {} });
    expect(sent(world)).toEqual([`b ${b}`]);
    expect(process.letters).toEqual([]);
  });

  test('puts away what cannot be read, and counts it', async () => {
    const world = new ReplayWorld();
    world.broker.append(UPDATES, 0, { value: 'broken' });
    const process = world.start();
    expect(await world.finish(process)).toMatchObject({ sent: 0, deadLettered: { not_an_object: 1 } });
    expect(process.letters).toHaveLength(1);
  });

  test('says how many offsets had expired', async () => {
    const world = new ReplayWorld(2);
    for (let id = 0; id < 20; id += 1) world.write(String(id), id % 2);
    world.broker.expire(UPDATES, 0, 4n);
    world.broker.expire(UPDATES, 1, 10n);
    const report = await world.finish(world.start({ from: '0:0,1:0' }));
    expect(report).toMatchObject({ result: 'done', read: 6, sent: 6, expired: 14 });
  });

  test('comes to its end in a range that ends in offsets without records', async () => {
    const world = new ReplayWorld(2);
    world.write('a');
    world.broker.skipOffsets(UPDATES, 0, 5);
    world.broker.skipOffsets(UPDATES, 1, 5);
    expect(await world.finish(world.start())).toMatchObject({ result: 'done', read: 1, sent: 1 });
  });

  test('comes to its end in a range that holds nothing any more', async () => {
    const world = new ReplayWorld();
    world.broker.skipOffsets(UPDATES, 0, 5);
    expect(await world.finish(world.start())).toMatchObject({ result: 'done', read: 0, sent: 0 });
  });

  test('keeps to its rate', async () => {
    const world = new ReplayWorld();
    for (let id = 0; id < 50; id += 1) world.write(String(id));
    const report = await world.finish(world.start({}, { rate: 10 }));
    expect(report.sent).toBe(50);
    expect(report.durationMs).toBeGreaterThan(4500);
  });

  test('tells its progress, phase by phase, up to the last offset', async () => {
    const world = new ReplayWorld();
    for (let id = 0; id < 200; id += 1) world.write(String(id));
    const process = world.start();
    await world.finish(process);
    expect([...new Set(process.progress.map(({ phase }) => phase))]).toEqual(['index', 'send']);
    for (const phase of ['index', 'send'])
      expect(process.progress.findLast((of) => of.phase === phase)).toMatchObject({ done: 200, total: 200 });
  });
});

test('the partitions of a report are in their order, whatever order Kafka names them in', async () => {
  const world = new ReplayWorld(3);
  for (let id = 0; id < 9; id += 1) world.write(String(id), id % 3);
  const { partitions } = await world.finish(world.start());
  expect(partitions.map(({ partition }) => partition)).toEqual([0, 1, 2]);
});

describe('updates that come meanwhile', () => {
  test('a transaction that became newer while its older update was under way is sent again', async () => {
    const world = new ReplayWorld();
    const old = world.write('a');
    world.goneLive(0, 1n);
    const process = world.start();
    while (world.service.requests.length === 0) await world.step([process]);
    // The live group is faster: its newer update arrives first, and ours overwrites it.
    const newer = world.write('a');
    world.service.statuses.set('a', newer);
    world.service.answerAll();
    expect(world.service.statuses.get('a')).toBe(old);
    const report = await world.finish(process);
    expect(report).toMatchObject({ sent: 1, repaired: 1, unsettled: 0 });
    expect(world.service.statuses.get('a')).toBe(newer);
  });

  test('gives up, and says so, where newer ones never stop coming', async () => {
    const world = new ReplayWorld();
    world.write('a');
    const process = world.start();
    for (let steps = 0; process.outcome === null && steps < 3000; steps += 1) {
      if (world.service.requests.length > 0) world.write('a');
      world.service.answerAll();
      await world.step([process]);
    }
    expect(process.report).toMatchObject({ unsettled: 1 });
    // It may be begun again: what is not at its end is not forgotten.
    expect(await world.finish(world.start())).toMatchObject({ resumed: true, unsettled: 0 });
  });
});

describe('a replay that does not come to its end', () => {
  test('goes on where it was when it was stopped, and sends nothing twice', async () => {
    const world = new ReplayWorld(2);
    for (let id = 0; id < 300; id += 1) world.write(String(id), id % 2);
    const first = world.start();
    while (world.service.sent.length < 100) {
      world.service.answerAll();
      await world.step([first], 20);
    }
    first.stop.ask('SIGINT');
    const stopped = await world.finish(first);
    expect(stopped).toMatchObject({ result: 'stopped' });
    expect(stopped.sent).toBeGreaterThanOrEqual(100);
    const resumed = await world.finish(world.start());
    expect(resumed).toMatchObject({ result: 'done', resumed: true, repaired: 0 });
    expect(stopped.sent + resumed.sent).toBe(300);
    expect(world.service.statuses).toEqual(world.newest());
  });

  test('goes on after a kill, with the ends of its first start, and looks after what came since', async () => {
    const world = new ReplayWorld();
    for (let id = 0; id < 300; id += 1) world.write(String(id));
    world.goneLive(0, 300n);
    const first = world.start();
    while (world.service.sent.length < 100) {
      world.service.answerAll();
      await world.step([first], 20);
    }
    first.kill();
    world.service.answerAll();
    await world.startLive();
    for (let id = 0; id < 300; id += 50) world.write(String(id));
    const resumed = await world.finish(world.start());
    expect(resumed).toMatchObject({
      result: 'done',
      resumed: true,
      partitions: [{ partition: 0, from: '0', end: '300' }],
    });
    expect(world.service.statuses).toEqual(world.newest());
  });

  test('is finished once: a third start is refused until it is forgotten', async () => {
    const world = new ReplayWorld();
    world.write('a');
    await world.finish(world.start());
    await expect(world.finish(world.start())).rejects.toThrow(/come to its end already/);
  });

  test('holds its plan before the first update leaves', async () => {
    const world = new ReplayWorld(3);
    for (let id = 0; id < 30; id += 1) world.write(String(id), id % 3);
    const process = world.start();
    while (world.service.requests.length === 0) await world.step([process], 1);
    for (const partition of [0, 1, 2])
      expect(world.broker.committed('live-replay-x', UPDATES, partition)?.metadata).not.toBe('');
    await world.finish(process);
  });
});
