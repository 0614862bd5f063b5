import { describe, expect, test } from 'vitest';
import {
  prepare,
  type PrepareParts,
  type ReplayAdmin,
  type ReplayRequest,
} from '../../../../src/app/replay/prepare.ts';
import { encodeMap } from '../../../../src/engine/offset-map.ts';
import { StopRequest } from '../../../../src/lifecycle/stop-request.ts';
import { encodePlan, hashOfParameters, type PlanParameters } from '../../../../src/replay/plan.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const CLUSTER = 'AAAAAA';
const TYPED: PlanParameters = { topic: 't', from: 'earliest', to: 'latest', everyUpdate: false, transIds: [] };

class FakeAdmin implements ReplayAdmin {
  marks = [
    { partition: 0, low: 0n, high: 100n },
    { partition: 1, low: 5n, high: 50n },
  ];
  commits = new Map<number, { offset: bigint; metadata: string }>();
  members = 0;
  /** The group that the members are of. */
  busy = 'live-replay-x';
  asked = 0;

  async topics(): Promise<[]> {
    return await Promise.resolve([]);
  }

  async watermarks() {
    return await Promise.resolve(this.marks);
  }

  async offsetsAt() {
    return await Promise.resolve(new Map([[0, 30n]]));
  }

  async committed() {
    return await Promise.resolve(this.commits);
  }

  async memberCount(groupId: string) {
    this.asked += 1;
    return await Promise.resolve(groupId === this.busy ? this.members : 0);
  }

  async commitFor() {
    return await Promise.reject(new Error('a preparation only reads'));
  }
}

function rig() {
  const admin = new FakeAdmin();
  const clock = new ManualClock();
  const stop = new StopRequest();
  const notes: string[] = [];
  const parts: PrepareParts = {
    admin,
    clusterHash: CLUSTER,
    groupId: 'live-replay-x',
    sessionTimeoutMs: 6000,
    clock,
    stop,
    note: (line) => {
      notes.push(line);
    },
  };
  return { admin, clock, stop, notes, parts };
}

function request(change: Partial<ReplayRequest> = {}, typed: Partial<PlanParameters> = {}): ReplayRequest {
  return { id: 'x', parameters: { ...TYPED, ...typed }, force: false, dryRun: false, ...change };
}

/** What the group has of a replay that was begun. */
function begun(admin: FakeAdmin, parameters: PlanParameters = TYPED): void {
  for (const { partition, low, high } of admin.marks) {
    const offset = low + 1n;
    const nonce = encodePlan(hashOfParameters(parameters), { from: low, end: high, seen: high });
    const map = { clusterHash: CLUSTER, nonce, offset, timestampMs: null, ranges: [] };
    admin.commits.set(partition, { offset, metadata: encodeMap(map, 4096).text });
  }
}

describe('what is no replay', () => {
  test.each<[string, ReplayRequest, RegExp]>([
    ['a start to come', request({}, { from: '2030-01-01T00:00:00Z' }), /--from: .* lies in the future/],
    ['an end that is no position', request({}, { to: 'soon' }), /--to: "soon" is not/],
    ['histories without force', request({}, { everyUpdate: true }), /--every-update .* needs --force/],
    ['an end before the start', request({}, { from: 'latest', to: 'earliest' }), /before its start/],
  ])('%s', async (_, of, message) => {
    await expect(prepare(rig().parts, of)).rejects.toThrow(message);
  });

  test('other options under the same id', async () => {
    const { admin, parts } = rig();
    begun(admin);
    await expect(prepare(parts, request({}, { to: '-1h' }))).rejects.toThrow(
      /was begun with other options.*--remove x/,
    );
  });

  test('one that has come to its end', async () => {
    const { admin, parts } = rig();
    admin.commits.set(0, { offset: 100n, metadata: '' });
    await expect(prepare(parts, request())).rejects.toThrow(/come to its end already.*--remove x/);
  });

  test('a topic whose partitions have become more since, but by force', async () => {
    const { admin, parts } = rig();
    begun(admin);
    admin.marks.push({ partition: 2, low: 0n, high: 9n });
    await expect(prepare(parts, request())).rejects.toThrow(/had 2 partitions .* and has 3 now/);
    const forced = await prepare(parts, request({ force: true }));
    expect(forced?.partitions.get(2)).toEqual({ from: 0n, end: 0n, seen: 0n });
  });

  test('a topic that was made anew', async () => {
    const { admin, parts } = rig();
    begun(admin);
    for (const mark of admin.marks) Object.assign(mark, { low: 0n, high: 1n });
    await expect(prepare(parts, request())).rejects.toThrow(/ends before the range/);
  });

  test('one that another process carries out', async () => {
    const { admin, clock, notes, parts } = rig();
    admin.members = 1;
    const outcome = prepare(parts, request()).catch((error: unknown) => String(error));
    for (let seconds = 0; seconds < 20; seconds += 1) {
      clock.advance(1000);
      await settled();
    }
    expect(await outcome).toMatch(/carried out by another process/);
    expect(notes).toHaveLength(1);
  });
});

describe('a replay that is prepared', () => {
  test('is fixed to what the topic holds now', async () => {
    const prepared = await prepare(rig().parts, request());
    expect([...(prepared?.partitions ?? [])]).toEqual([
      [0, { from: 0n, end: 100n, seen: 100n }],
      [1, { from: 5n, end: 50n, seen: 50n }],
    ]);
    expect(prepared?.committed.size).toBe(0);
  });

  test('begins at a time; a partition with nothing later has nothing of it', async () => {
    const prepared = await prepare(rig().parts, request({}, { from: '-24h' }));
    expect([...(prepared?.partitions ?? [])]).toEqual([
      [0, { from: 30n, end: 100n, seen: 100n }],
      [1, { from: 50n, end: 50n, seen: 50n }],
    ]);
  });

  test('is resumed with the ends of its first start, whatever has come since', async () => {
    const { admin, parts } = rig();
    begun(admin);
    for (const mark of admin.marks) mark.high += 1000n;
    const prepared = await prepare(parts, request());
    expect([...(prepared?.partitions ?? [])]).toEqual([
      [0, { from: 0n, end: 100n, seen: 100n }],
      [1, { from: 5n, end: 50n, seen: 50n }],
    ]);
    expect(prepared?.committed).toEqual(
      new Map([
        [0, 1n],
        [1, 6n],
      ]),
    );
  });

  test.each(['live-replay-x', 'live-replay-x-index'])(
    'waits for the session of a start that was killed in %s',
    async (busy) => {
      const { admin, clock, notes, parts } = rig();
      Object.assign(admin, { members: 1, busy });
      const prepared = prepare(parts, request());
      clock.advance(500);
      await settled();
      admin.members = 0;
      for (let looks = 0; looks < 3; looks += 1) {
        clock.advance(500);
        await settled();
      }
      expect(await prepared).not.toBeNull();
      expect(notes).toEqual(['Another process has worked on the replay x; waiting for its session to end.']);
    },
  );

  test('is none where a stop is asked for meanwhile', async () => {
    const { admin, clock, stop, parts } = rig();
    admin.members = 1;
    const prepared = prepare(parts, request());
    await settled();
    stop.ask('SIGINT');
    clock.advance(500);
    expect(await prepared).toBeNull();
  });

  test('as a dry run it does not look at its group', async () => {
    const { admin, parts } = rig();
    begun(admin, { ...TYPED, from: '-1h' });
    admin.members = 1;
    const prepared = await prepare(parts, request({ dryRun: true }, { everyUpdate: true }));
    expect(prepared?.committed.size).toBe(0);
    expect(admin.asked).toBe(0);
  });
});
