import { describe, expect, test } from 'vitest';
import { leaksOf, loginsAtOnce, mostLoginsAMinute, reckonMail } from '../../chaos/other-promises.ts';
import { type Letter, type Login } from '../../chaos/sightings.ts';

const letter = (id: string, answers: Letter['answers'], changes: Partial<Letter> = {}): Letter => ({
  id,
  isForged: false,
  atMs: 0,
  answers,
  ...changes,
});
const topic = (...reviewed: string[]): { reviewed: Set<string>; reviewRecords: number } => ({
  reviewed: new Set(reviewed),
  reviewRecords: reviewed.length,
});

describe('the reckoning of webhooks sees', () => {
  test('nothing where each is in the topic', () => {
    expect(reckonMail([letter('a', [503, 200]), letter('f', [401], { isForged: true })], topic('a'))).toMatchObject({
      webhooks: 1,
      forged: 1,
      notKept: 0,
      unauthenticated: 0,
      notDelivered: 0,
      reviewsTwice: 0,
    });
  });

  test('one that was answered 200 and is not in the topic', () => {
    expect(reckonMail([letter('a', [200])], topic())).toMatchObject({ notKept: 1 });
  });

  test('one that was never accepted', () => {
    expect(reckonMail([letter('a', [503, null])], topic('a'))).toMatchObject({ notDelivered: 1, notKept: 0 });
  });

  test.each([
    ['answered 200', [200], topic()],
    ['published, whatever was answered', [401], topic('f')],
  ])('a forged one that was %s', (_, answers, inTopic) => {
    expect(reckonMail([letter('f', answers, { isForged: true })], inTopic)).toMatchObject({ unauthenticated: 1 });
  });

  test('an event that was published twice', () => {
    expect(reckonMail([letter('a', [200])], { reviewed: new Set(['a']), reviewRecords: 2 }).reviewsTwice).toBe(1);
  });
});

const login = (owner: string, startedMs: number, endedMs: number | null): Login => ({
  owner,
  startedMs,
  endedMs,
  status: 200,
});

describe('logins', () => {
  test('of one process at once are counted, of two processes not', () => {
    expect(loginsAtOnce([login('1.1', 0, 100), login('2.1', 50, 150), login('1.1', 100, 200)])).toBe(0);
    expect(loginsAtOnce([login('1.1', 0, 100), login('1.1', 50, 150)])).toBe(1);
    expect(loginsAtOnce([login('1.1', 0, null), login('1.1', 50, 150)])).toBe(1);
  });

  test('within a minute are counted for each process', () => {
    expect(mostLoginsAMinute([])).toBe(0);
    const logins = [0, 10_000, 20_000, 61_000].map((at) => login('1.1', at, at + 1));
    expect(mostLoginsAMinute([...logins, login('2.1', 5, 6)])).toBe(3);
  });
});

describe('what is printed', () => {
  test('leaks nothing where neither a secret nor an id is in it', () => {
    expect(leaksOf('{"event":"ready","time":1}', ['s3cret'], new Set(['trans-0001']))).toBe(0);
  });

  test('leaks each secret and each id that is in it', () => {
    const output = '{"event":"odd","id":"trans-0001","more":"Basic s3cret","again":"trans-0001"}';
    expect(leaksOf(output, ['s3cret'], new Set(['trans-0001', 'trans-0002']))).toBe(2);
  });
});
