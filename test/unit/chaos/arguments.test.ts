import { describe, expect, test } from 'vitest';
import { readArguments, readSeriesArguments } from '../../chaos/arguments.ts';
import { SCENARIOS } from '../../chaos/schedule.ts';

describe('the arguments of a campaign', () => {
  test.each([
    [['--scenario', 'meteor'], '--scenario must be one of'],
    [['--minutes', 'many'], '--minutes must be'],
    [['--connectors', '5'], '--connectors must be from 1 to 4'],
    [['--session', '5999'], '--session must be'],
    [['--sessions', '6000'], 'sessions'],
    [['--break', 'everything'], '--break must be one of'],
    [['soon'], 'soon'],
  ])('are refused with the usage: %j', (args, expected) => {
    const answer = readArguments(args, 7);
    expect(answer).toContain(expected);
    expect(answer).toContain('npm run chaos');
  });

  test('have defaults, a made-up seed among them', () => {
    expect(readArguments([], 7)).toEqual({
      scenario: 'mixed',
      minutes: 2,
      seed: 7,
      sessionMs: 6000,
      connectors: 2,
      rate: 200,
      latencyMs: 50,
      json: null,
      page: null,
      bug: null,
      other: null,
    });
  });

  test('that ask for help get the usage with every scenario', () => {
    const usage = readArguments(['--help'], 7);
    for (const scenario of SCENARIOS) expect(usage).toContain(`  ${scenario} `);
  });

  test('are taken as given', () => {
    const args = [
      '--scenario',
      'kill',
      '--minutes',
      '0.5',
      '--seed',
      '3',
      '--json',
      'report.json',
      '--other',
      '../before',
    ];
    expect(readArguments(args, 7)).toMatchObject({
      scenario: 'kill',
      minutes: 0.5,
      seed: 3,
      json: 'report.json',
      other: '../before',
    });
  });
});

describe('the arguments of a series', () => {
  test.each([
    [['--series', ''], '--series must be a folder'],
    [['--series', 'out', '--for', 'ever'], '--for must be above 0'],
    [['--series', 'out', '--only', 'kill-209,meteor-1'], '--only must be of storm-101'],
    [['--series', 'out', '--seed', '7'], 'seed'],
  ])('are refused with the usage: %j', (args, expected) => {
    const answer = readSeriesArguments(args);
    expect(answer).toContain(expected);
    expect(answer).toContain('npm run chaos');
  });

  test('are none where one campaign is wanted', () => {
    expect(readSeriesArguments(['--scenario', 'kill'])).toBeNull();
  });

  test('are taken as given', () => {
    expect(readSeriesArguments(['--series', 'out', '--for', '14', '--only', 'kill-209'])).toEqual({
      folder: 'out',
      forMinutes: 14,
      only: new Set(['kill-209']),
    });
  });
});
