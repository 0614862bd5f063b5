import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { addWitness } from '../../support/witnesses.ts';

async function messageOf(wait: Promise<unknown>): Promise<string> {
  try {
    await wait;
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return 'nothing was thrown';
}

test('a wait that was in vain tells what witnesses know of the time since it began, and what they do not', async () => {
  const asked: number[] = [];
  const silences = [
    addWitness((sinceMs) => {
      asked.push(sinceMs);
      return 'the service: 3 updates';
    }),
    addWitness(() => null),
    addWitness(async () => await Promise.reject(new Error('gone'))),
  ];
  const beforeMs = performance.now();
  const message = await messageOf(eventually('four updates', () => null, 0));
  for (const silence of silences) silence();
  expect(message).toMatch(
    /^it did not come to this within 0 ms: four updates\n\nload .*\n\nthe service: 3 updates\n\na witness could not answer$/,
  );
  expect(asked[0]).toBeGreaterThanOrEqual(beforeMs);
  expect(await messageOf(eventually('four updates', () => null, 0))).not.toContain('witness');
});

test('a wait that is over asks nobody', async () => {
  const silence = addWitness(() => {
    throw new Error('asked');
  });
  expect(await eventually('five', () => 5)).toBe(5);
  silence();
});
