import { expect, test } from 'vitest';
import { type Emit } from '../../../src/kernel/emit.ts';
import { fanOut } from '../../../src/telemetry/fan-out.ts';

const broken: Emit = () => {
  throw new Error('full disk');
};

test('a listener that throws keeps no other from hearing, nor the speaker from going on', () => {
  const heard: string[] = [];
  const emit = fanOut(
    broken,
    (event) => heard.push(event),
    broken,
    (event) => heard.push(event),
  );
  emit('login', { result: 'ok' });
  expect(heard).toEqual(['login', 'login']);
});
