import { describe, expect, test } from 'vitest';
import { watchSecretFiles } from '../../../../src/edges/system/secret-files.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

/** A file in memory under watch; null: it cannot be read. */
class Rig {
  readonly clock = new ManualClock();
  readonly said: string[] = [];
  content: string | null = 'first';
  reads = 0;
  hangs = false;
  readonly end: () => void;

  constructor() {
    this.end = watchSecretFiles({
      files: [
        {
          path: '/secret',
          take: (content) => {
            this.said.push(`take ${content.trim()}`);
            return !content.includes('bad');
          },
          onFail: (why) => {
            this.said.push(why);
          },
        },
      ],
      clock: this.clock,
      read: async () => {
        this.reads += 1;
        if (this.hangs) await new Promise<never>(() => undefined);
        if (this.content === null) throw new Error('ENOENT');
        return await Promise.resolve(this.content);
      },
    });
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      this.clock.advance(500);
      await settled();
    }
  }
}

async function started(): Promise<Rig> {
  const rig = new Rig();
  await rig.pass(10_000);
  expect(rig.said).toEqual(['take first']);
  rig.said.length = 0;
  return rig;
}

describe('a file that is no good', () => {
  test.each([
    ['unreadable', null],
    ['empty', ' \n'],
    ['refused', 'bad'],
  ])('%s: is told once, for as long as it stays so', async (why, content) => {
    const rig = await started();
    rig.content = content;
    await rig.pass(60_000);
    expect(rig.said.filter((each) => !each.startsWith('take'))).toEqual([why]);
  });

  test('is told again when it is no good in another way', async () => {
    const rig = await started();
    rig.content = null;
    await rig.pass(10_000);
    rig.content = '';
    await rig.pass(10_000);
    rig.content = null;
    await rig.pass(10_000);
    expect(rig.said).toEqual(['unreadable', 'empty', 'unreadable']);
  });

  test('is not told when it was only half written, or away for a moment', async () => {
    const rig = await started();
    await rig.pass(2500);
    for (const content of ['', null, 'ba', 'second']) {
      rig.content = content;
      await rig.pass(500);
    }
    await rig.pass(10_000);
    expect(rig.said).toEqual(['take second']);
  });
});

describe('a file that changes', () => {
  test('is taken within four seconds, once', async () => {
    const rig = await started();
    rig.content = 'second';
    await rig.pass(4000);
    expect(rig.said).toEqual(['take second']);
    await rig.pass(60_000);
    expect(rig.said).toEqual(['take second']);
  });

  test('is taken after it was no good', async () => {
    const rig = await started();
    rig.content = 'bad';
    await rig.pass(10_000);
    rig.content = 'good';
    await rig.pass(10_000);
    expect(rig.said).toEqual(['take bad', 'refused', 'take good']);
  });

  test('is read no more once that has been ended, also when a read is under way', async () => {
    const rig = await started();
    rig.content = 'second';
    rig.clock.advance(3000);
    rig.end();
    await rig.pass(20_000);
    expect(rig.said).toEqual([]);
    expect(rig.clock.pending).toBe(0);
  });

  test('a read that does not come back starts no second one', async () => {
    const rig = await started();
    rig.hangs = true;
    const before = rig.reads;
    await rig.pass(60_000);
    expect(rig.reads).toBe(before + 1);
  });
});

test('is read as far as it may be large: 64 KiB, or what the file is told', async () => {
  const clock = new ManualClock();
  const asked: unknown[] = [];
  const watched = { take: () => true, onFail: () => undefined };
  const end = watchSecretFiles({
    files: [
      { ...watched, path: '/secret' },
      { ...watched, path: '/authorities', mostBytes: 4_000_000 },
    ],
    clock,
    read: async (path, mostBytes) => {
      asked.push([path, mostBytes]);
      return await Promise.resolve('x');
    },
  });
  clock.advance(3000);
  await settled();
  end();
  expect(asked).toEqual([
    ['/secret', 65_536],
    ['/authorities', 4_000_000],
  ]);
});
