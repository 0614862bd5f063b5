import { expect, test } from 'vitest';
import { untilThere } from '../../../src/app/preflight.ts';
import { type Emit } from '../../../src/kernel/emit.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { StopRequest } from '../../../src/lifecycle/stop-request.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const HOLD = { cause: 'kafka', scope: 'start' } as const;

/** Makes these attempts, one after the other, and tells what was said. */
async function tried(...attempts: readonly (Error | 'there')[]): Promise<{ said: unknown[]; found: unknown }> {
  const clock = new ManualClock();
  const said: unknown[] = [];
  const emit: Emit = (event, fields) => said.push([event, 'error' in fields ? fields.error : '']);
  const left = [...attempts];
  const parts = { clock, draw: () => 0.5, emit, stop: new StopRequest() };
  const ended: unknown[] = [];
  const waiting = untilThere(parts, HOLD, async () => {
    const next = left.shift() ?? 'there';
    return next === 'there' ? await Promise.resolve(next) : await Promise.reject(next);
  }).then(
    (there) => ended.push(there),
    (error: unknown) => ended.push(error),
  );
  while (ended.length === 0) {
    await settled();
    clock.advance(10_000);
  }
  await waiting;
  return { said, found: ended[0] };
}

const away = new Fault('KAFKA_FAILED', 'Kafka: ECONNREFUSED.');
const refused = new Fault('KAFKA_FAILED', 'Kafka: SASL_AUTHENTICATION_FAILED.');

test('what a person has to mend is not waited for, and what nobody has thought of neither', async () => {
  const wrong = new Fault('TOPIC_MISSING', 'no topic');
  expect(await tried(wrong)).toEqual({ said: [], found: wrong });
  const odd = new TypeError('odd');
  expect(await tried(odd)).toEqual({ said: [], found: odd });
});

test('a neighbour that is there at once is not worth a word', async () => {
  expect(await tried('there')).toEqual({ said: [], found: 'there' });
});

test('what is waited for is said with its reason, once as long as that is the same, and when it is over', async () => {
  expect(await tried(away, away, refused, refused, 'there')).toEqual({
    said: [
      ['hold_started', 'Kafka: ECONNREFUSED.'],
      ['hold_ended', ''],
      ['hold_started', 'Kafka: SASL_AUTHENTICATION_FAILED.'],
      ['hold_ended', ''],
    ],
    found: 'there',
  });
});
