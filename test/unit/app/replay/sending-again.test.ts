import { expect, test } from 'vitest';
import { heedSignals } from '../../../../src/app/replay/sending-again.ts';
import { StopRequest } from '../../../../src/lifecycle/stop-request.ts';

test('the first signal asks for a stop and says so, the second one ends the process', () => {
  const said: string[] = [];
  const stop = new StopRequest();
  const listeners: ((signal: string) => void)[] = [];
  const terminal = {
    exit: (code: number): never => {
      throw new Error(`exit ${String(code)}`);
    },
    onStop: (listener: (signal: string) => void) => {
      listeners.push(listener);
      return () => void said.push('deaf');
    },
  };
  const deaf = heedSignals(terminal, stop, { note: (line) => void said.push(line) });
  for (const listener of listeners) listener('SIGINT');
  expect([stop.reason, said.length]).toEqual(['SIGINT', 1]);
  expect(() => {
    for (const listener of listeners) listener('SIGINT');
  }).toThrow('exit 1');
  deaf();
  expect(said.at(-1)).toBe('deaf');
});
