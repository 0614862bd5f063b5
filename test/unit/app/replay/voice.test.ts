import { describe, expect, test } from 'vitest';
import { createVoice } from '../../../../src/app/replay/voice.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const AUDIT = { who: 'ada', command: 'replay', range: 'x', counts: '', result: 'started' };

function voice(isOnTerminal: boolean, logLevel: 'info' | 'silent' = 'info') {
  const said: string[] = [];
  const terminal = {
    say: (line: string) => said.push(`out ${line}`),
    complain: (line: string) => said.push(`err ${line}`),
  };
  const statusLine = {
    width: 80,
    show: () => undefined,
    hide: () => said.push('hide'),
  };
  const parts = {
    terminal,
    clock: new ManualClock(),
    config: { account: 'a', logLevel },
    statusLine: isOnTerminal ? statusLine : null,
  };
  return { voice: createVoice(parts), said };
}

describe('the voice of a command', () => {
  test('logs under a bar only what a person must see, and takes the bar away before', () => {
    const { voice: it, said } = voice(true);
    it.emit('login', { result: 'ok' });
    it.emit('commit_failed', { error: 'x' });
    expect(said).toEqual(['hide', expect.stringContaining('"event":"commit_failed"')]);
  });

  test('logs what LOG_LEVEL says elsewhere, to standard error', () => {
    const { voice: it, said } = voice(false);
    it.emit('login', { result: 'ok' });
    expect(said).toEqual([expect.stringMatching(/^err \{.*"account":"a".*"event":"login"\}$/)]);
  });

  test('writes the audit line whatever LOG_LEVEL says', () => {
    const { voice: it, said } = voice(false, 'silent');
    it.emit('login', { result: 'ok' });
    it.audit(AUDIT);
    expect(said).toEqual([expect.stringMatching(/"who":"ada".*"event":"audit"/)]);
  });

  test('gives results to standard output, and notes to standard error', () => {
    const { voice: it, said } = voice(true);
    it.say('result');
    it.note('note');
    expect(said).toEqual(['hide', 'out result', 'hide', 'err note']);
  });
});
