import { expect, test } from 'vitest';
import { Live } from '../../../../src/app/demo/live.ts';
import { type Screen } from '../../../../src/edges/system/screen.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { emptyMoment, sceneOf } from './scenes.ts';

const idle = (): void => undefined;

async function openLive() {
  const clock = new ManualClock();
  const drawn: string[] = [];
  const seen = { looks: 0, closed: 0, pressed: 0 };
  const keyboard: { press: (key: string) => void } = { press: idle };
  const screen: Screen = {
    size: { columns: 80, rows: 24 },
    draw: (lines) => {
      drawn.push(lines.join('\n'));
    },
    close: () => {
      seen.closed += 1;
    },
  };
  const live = await Live.open({
    observer: {
      forMs: 1_000,
      look: async () => {
        seen.looks += 1;
        return await Promise.resolve(emptyMoment({ created: seen.looks }));
      },
    },
    places: () => sceneOf(emptyMoment()).places,
    clock,
    colour: false,
    forMs: null,
    keys: {
      k: () => {
        seen.pressed += 1;
        return 'it was killed';
      },
    },
    openScreen: (onKey) => {
      keyboard.press = onKey;
      return screen;
    },
  });
  return { live, clock, drawn, seen, press: (key: string): void => keyboard.press(key) };
}

test('draws four times a second and looks twice', async () => {
  const { clock, drawn, seen } = await openLive();
  for (let quarter = 0; quarter < 8; quarter += 1) {
    clock.advance(250);
    await settled();
  }
  expect(drawn).toHaveLength(9);
  expect(seen.looks).toBe(5);
});

test('does what a key says, in upper case too, and tells so; other keys do nothing', async () => {
  const { drawn, seen, press } = await openLive();
  press('K');
  expect(seen.pressed).toBe(1);
  expect(drawn.at(-1)).toContain('▶ it was killed');
  const count = drawn.length;
  press('\u001B[A');
  press('x');
  expect(drawn).toHaveLength(count);
});

test('looks no more while the connector is stopping, and draws on', async () => {
  const { live, clock, drawn, seen } = await openLive();
  await live.freeze();
  const looks = seen.looks;
  clock.advance(5_000);
  await settled();
  expect(seen.looks).toBe(looks);
  expect(drawn.at(-1)).toContain('stopping');
});

test('gives the screen back once, with the last picture and without a timer left', async () => {
  const { live, clock, drawn, seen, press } = await openLive();
  const last = await live.close();
  expect(last.join('\n')).toContain('ended');
  expect(last.join('\n')).not.toContain('kill -9');
  expect(await live.close()).toEqual([]);
  expect(seen.closed).toBe(1);
  expect(clock.pending).toBe(0);
  const count = drawn.length;
  press('k');
  clock.advance(5_000);
  expect(seen.pressed).toBe(0);
  expect(drawn).toHaveLength(count);
});
