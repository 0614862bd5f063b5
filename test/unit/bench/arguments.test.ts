import { describe, expect, test } from 'vitest';
import { readArguments } from '../../bench/arguments.ts';

describe('the arguments of a bench', () => {
  test.each([
    [[], 'The first argument must be one of ceiling, lag, engine, webhooks'],
    [['webhook'], 'The first argument must be one of'],
    [['ceiling', '--keys', 'odd'], '--keys must be'],
    [['ceiling', '--latency', '0'], '--latency must be from 1'],
    [['lag', '--records', '20000000'], '--records must be from 1000 to 10000000'],
    [['lag', '--second', '5'], 'second'],
    [['webhooks', '--rounds', '0'], '--rounds must be from 1'],
    [['ill', '--minutes', '0'], '--minutes must be from 0.1'],
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

  test('of an ill service are minutes and a rate', () => {
    expect(readArguments(['ill'])).toMatchObject({ minutes: 2, rate: 300, records: 100_000, poison: false });
    expect(readArguments(['ill', '--poison', '--minutes', '0.5'])).toMatchObject({ poison: true, minutes: 0.5 });
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
