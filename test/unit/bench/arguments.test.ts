import { describe, expect, test } from 'vitest';
import { readArguments } from '../../bench/arguments.ts';

describe('the arguments of a bench', () => {
  test.each([
    [[], 'The first argument must be one of ceiling, lag, engine'],
    [['webhooks'], 'The first argument must be one of'],
    [['ceiling', '--keys', 'odd'], '--keys must be'],
    [['ceiling', '--latency', '0'], '--latency must be from 1'],
    [['lag', '--records', '20000000'], '--records must be from 1000 to 10000000'],
    [['lag', '--second', '5'], 'second'],
  ])('are refused with the usage: %j', (args, expected) => {
    const answer = readArguments(args);
    expect(answer).toContain(expected);
    expect(answer).toContain('npm run bench');
  });

  test('have defaults of their job', () => {
    expect(readArguments(['ceiling'])).toMatchObject({
      keys: ['even', 'zipf'],
      latencyMs: 50,
      seconds: 30,
      pin: false,
    });
    expect(readArguments(['lag'])).toMatchObject({ latencyMs: 0, seconds: 60, records: 1_000_000, json: null });
  });

  test('are taken as given', () => {
    const args = ['ceiling', '--keys', 'zipf', '--pin', '--node-options=--a=1 --b', '--json', 'x.json'];
    expect(readArguments(args)).toMatchObject({
      keys: ['zipf'],
      pin: true,
      nodeOptions: ['--a=1', '--b'],
      json: 'x.json',
    });
  });
});
