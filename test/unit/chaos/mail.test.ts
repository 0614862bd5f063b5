import { describe, expect, test } from 'vitest';
import { Mail } from '../../chaos/mail.ts';
import { seededDraw } from '../../../src/sandbox/service/chance.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const mailTo = (answers: readonly (number | null)[]): { mail: Mail; clock: ManualClock; signatures: string[] } => {
  const clock = new ManualClock();
  const signatures: string[] = [];
  const left = [...answers];
  const mail = new Mail({
    url: () => 'http://127.0.0.1/hook',
    secret: 'a-secret',
    speed: 10,
    clock,
    draw: seededDraw(1),
    post: async (_url, headers) => {
      signatures.push(headers['x-servicewebhook-signature'] ?? '');
      return await Promise.resolve(left.length === 0 ? 503 : (left.shift() ?? null));
    },
  });
  return { mail, clock, signatures };
};

describe('a webhook', () => {
  test('is sent again on the schedule of the service, until it is accepted', async () => {
    const { mail, clock } = mailTo([503, null, 200]);
    const letter = mail.send({ isForged: false });
    await settled();
    expect(letter.answers).toEqual([503]);
    clock.advance(499);
    await settled();
    expect(letter.answers).toEqual([503]);
    clock.advance(1);
    await settled();
    expect([letter.answers, mail.open]).toEqual([[503, null], 1]);
    clock.advance(2415);
    await settled();
    expect([letter.answers, mail.open, clock.pending]).toEqual([[503, null, 200], 0, 0]);
  });

  test('is given up after eight retries', async () => {
    const { mail, clock } = mailTo([]);
    const letter = mail.send({ isForged: false });
    for (let retry = 0; retry < 12; retry += 1) {
      await settled();
      clock.advance(86_400_000);
    }
    expect(letter.answers).toHaveLength(9);
    expect(mail.open).toBe(0);
  });

  test('that waits for its next attempt goes at once where it is hurried', async () => {
    const { mail, clock } = mailTo([503, 200]);
    const letter = mail.send({ isForged: false });
    await settled();
    mail.hurry();
    await settled();
    expect([letter.answers, clock.pending]).toEqual([[503, 200], 0]);
    mail.hurry();
    expect(letter.answers).toEqual([503, 200]);
  });

  test('that is forged is sent once, signed with another secret', async () => {
    const { mail, clock, signatures } = mailTo([401, 503]);
    const forged = mail.send({ isForged: true });
    const real = mail.send({ isForged: false });
    await settled();
    expect(forged.answers).toEqual([401]);
    expect(real.answers).toEqual([503]);
    expect(clock.pending).toBe(1);
    expect(new Set(signatures).size).toBe(2);
    expect(mail.open).toBe(1);
  });
});

test('a flood sends so many a second, every second one forged, and ends', async () => {
  const { mail, clock } = mailTo(Array.from({ length: 100 }, () => 200));
  const flood = mail.flood(20, 1000, { forged: true });
  clock.advance(500);
  expect(mail.letters).toHaveLength(10);
  clock.advance(5000);
  await flood;
  expect(mail.letters).toHaveLength(20);
  expect(mail.letters.filter(({ isForged }) => isForged)).toHaveLength(10);
});
