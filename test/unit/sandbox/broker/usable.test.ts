import { describe, expect, test } from 'vitest';
import { type Ask, whatIsMissing } from '../../../../src/sandbox/broker/usable.ts';

const BROKERS = ['127.0.0.1:20001', '127.0.0.1:20002', '127.0.0.1:20003'];

interface World {
  /** Members of the cluster. */
  readonly members: number;
  /** Kafka's error codes. */
  readonly find: number;
  readonly load: number;
}

/** A cluster that is ready, but for what `change` says; its coordinators are on the second node. */
function cluster(change: Partial<World> = {}): { ask: Ask; asked: string[] } {
  const world: World = { members: 3, find: 0, load: 0, ...change };
  const asked: string[] = [];
  const ask: Ask = async (address, { key }, body) => {
    asked.push(`${String(key)} ${address} ${body.toString('latin1').replaceAll(/[^a-z0-9-]/g, '')}`.trim());
    return await Promise.resolve(answer(key, world));
  };
  return { ask, asked };
}

function answer(key: number, world: World): Buffer {
  if (key === 3) {
    const metadata = Buffer.alloc(4);
    metadata.writeInt32BE(world.members);
    return metadata;
  }
  if (key === 9) {
    const offsets = Buffer.alloc(6);
    offsets.writeInt16BE(world.load, 4);
    return offsets;
  }
  const host = Buffer.from('127.0.0.1');
  const found = Buffer.alloc(8 + host.length + 4);
  found.writeInt16BE(world.find, 0);
  found.writeInt32BE(2, 2);
  found.writeInt16BE(host.length, 6);
  host.copy(found, 8);
  found.writeInt32BE(20_002, 8 + host.length);
  return found;
}

const refused: Ask = async () => await Promise.reject(new Error('secret'));
const short: Ask = async () => await Promise.resolve(Buffer.alloc(1));

describe('groups cannot be joined', () => {
  test('while a node is missing from the cluster', async () => {
    expect(await whatIsMissing(BROKERS, cluster({ members: 2 }).ask)).toBe('2 of 3 nodes have joined the cluster');
  });

  test('while no coordinator is available', async () => {
    expect(await whatIsMissing(BROKERS, cluster({ find: 15 }).ask)).toContain('error 15');
  });

  test('while the coordinator reads its offsets', async () => {
    expect(await whatIsMissing(BROKERS, cluster({ load: 14 }).ask)).toContain('error 14');
  });

  test('while nobody answers, and the message does not repeat what the error said', async () => {
    expect(await whatIsMissing(BROKERS, refused)).toBe('no answer (Error)');
  });

  test('while an answer is cut short', async () => {
    expect(await whatIsMissing(BROKERS, short)).toContain('no answer');
  });
});

describe('groups can be joined', () => {
  test('when a group of every partition has its coordinator, asked where it is', async () => {
    const { ask, asked } = cluster();
    expect(await whatIsMissing(BROKERS, ask)).toBeUndefined();
    expect(asked).toEqual([
      '3 127.0.0.1:20001',
      ...['1', '2', '3'].flatMap((name) => [`10 127.0.0.1:20001 warm-up-${name}`, `9 127.0.0.1:20002 warm-up-${name}`]),
    ]);
  });

  test('with one node after one group', async () => {
    const { ask, asked } = cluster({ members: 1 });
    expect(await whatIsMissing(BROKERS.slice(0, 1), ask)).toBeUndefined();
    expect(asked).toHaveLength(3);
  });
});
