import { describe, expect, test } from 'vitest';
import { ILL_NAMES, ILLS, isNoAnswer, strokesOf } from '../../chaos/ills.ts';
import { type Login, type Sighting } from '../../chaos/sightings.ts';
import { readFaults } from '../../../src/sandbox/service/faults.ts';

const seen = (startedMs: number, status: number | null): Sighting => ({
  kind: 'score',
  owner: '1.1',
  transId: 'a',
  key: 'k',
  startedMs,
  endedMs: startedMs + 50,
  status,
});
const login = (startedMs: number, status: number | null): Login => ({
  owner: '1.1',
  startedMs,
  endedMs: startedMs + 50,
  status,
});

const NOTHING = { sightings: [], logins: [], refused: 0 };

test.each(ILL_NAMES)('%s is a fault that the service knows', (name) => {
  expect(typeof readFaults(ILLS[name].faults)).toBe('object');
});

describe('an ill has befallen somebody', () => {
  test('where requests show it, from its beginning on', () => {
    const sightings = [seen(0, 503), seen(100, 503), seen(200, 200), seen(300, 500)];
    expect(strokesOf('unavailable', { ...NOTHING, sightings }, 50)).toBe(1);
    expect(strokesOf('slow', { ...NOTHING, sightings: [{ ...seen(100, 200), endedMs: 1100 }] }, 50)).toBe(1);
  });

  test('where logins show it', () => {
    expect(strokesOf('logins_fail', { ...NOTHING, logins: [login(0, 503), login(100, 503)] }, 50)).toBe(1);
    expect(strokesOf('unavailable', { ...NOTHING, logins: [login(100, 503)] }, 50)).toBe(0);
  });

  test('where connections that were not taken show it', () => {
    expect(strokesOf('refuses_connections', { ...NOTHING, refused: 3 }, 50)).toBe(3);
    expect(strokesOf('unavailable', { ...NOTHING, refused: 3 }, 50)).toBe(0);
  });
});

test('an answer that nobody can use is none; of status updates any 200 is one that does not say otherwise', () => {
  expect(isNoAnswer(null, 'score')).toBe(false);
  expect(isNoAnswer({ as: 'html' }, 'score')).toBe(true);
  expect(isNoAnswer({ as: 'html' }, 'sync')).toBe(false);
  expect(isNoAnswer({ as: 'error_msg' }, 'sync')).toBe(true);
});
