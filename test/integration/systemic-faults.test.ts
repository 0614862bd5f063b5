import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type HoldCause } from '../../src/kernel/outcome.ts';
import { type FaultSettings } from '../../src/sandbox/service/faults.ts';
import { eventually } from '../support/eventually.ts';
import { StruckWorld } from './struck-world.ts';

let struck: StruckWorld;

beforeAll(async () => {
  struck = await StruckWorld.open(inject('kafka'));
});
afterEach(() => {
  struck.world.service.faults.set({});
});
afterAll(async () => {
  await struck.close();
});

async function heldBy(cause: HoldCause): Promise<void> {
  await eventually(`a hold by ${cause}`, async () => {
    const holds = (await struck.connector.status())?.holds ?? [];
    return holds.some((hold) => hold.cause === cause && hold.mend.length > 0);
  });
  expect(await struck.connector.text('/metrics')).toMatch(new RegExp(`fraud_connector_hold{[^}]*"${cause}"[^}]*} 1`));
}

/** Requests of payments that come within a while. */
async function requestsWithin(spanMs: number): Promise<number> {
  const before = struck.ledger.summary().scoreRequests;
  await sleep(spanMs);
  return struck.ledger.summary().scoreRequests - before;
}

describe('a service that answers everybody alike holds, makes no letter, and is left alone', () => {
  const refusing: readonly (readonly [string, FaultSettings, HoldCause])[] = [
    ['a way that is closed', { status: { code: 403 } }, 'service_refuses'],
    ['a way that leads elsewhere', { status: { code: 307, location: 'elsewhere' } }, 'service_refuses'],
    ['a page of a proxy', { answer: { as: 'html', carriedOut: false } }, 'service_refuses'],
    ['a refusal of every payment', { status: { code: 422 } }, 'floodgate'],
  ];
  test.for(refusing)('%s', async ([, fault, cause]) => {
    struck.world.service.faults.set(fault);
    const letters = struck.reasons.length;
    const ids = await struck.pay(60);
    await heldBy(cause);
    await sleep(300);
    expect(await requestsWithin(1000)).toBe(0);
    struck.world.service.faults.set({});
    // It would look again within a minute; what a new process has not learnt yet it does not wait for.
    await struck.restart();
    const written = struck.reasons.length - letters;
    await eventually('each is scored or is a letter', () => {
      const scored = ids.filter((id) => (struck.seen(id)?.scored ?? 0) > 0).length;
      return scored + written === ids.length;
    });
    expect(written).toBeLessThan(cause === 'floodgate' ? 10 : 1);
    expect(struck.ledger.summary().redirectsFollowed).toBe(0);
  });

  test('and refuses every update alike: a hold, not letters', async () => {
    const ids = await struck.pay(60);
    await struck.scored(...ids);
    const letters = struck.reasons.length;
    // No batch has been accepted by this process yet, so that none of them can be told from the others.
    await struck.restart();
    struck.world.service.faults.set({ operations: ['sync'], status: { code: 400 } });
    const { batches } = struck.ledger.summary();
    await struck.report(...ids);
    await eventually('it is searched once', () => struck.ledger.summary().batches > batches + 60);
    await eventually('the updates wait', async () =>
      ((await struck.connector.flow('sync'))?.waits ?? []).some(({ cause }) => cause === 'service_refuses'),
    );
    struck.world.service.faults.set({});
    await struck.restart();
    await struck.reported(...ids);
    expect(struck.reasons).toHaveLength(letters);
  });
});

describe('a session', () => {
  test.for(['token_past', 'token_opaque'] as const)('whose token tells nothing of its life is used: %s', async (as) => {
    await struck.scored(...(await struck.pay(1)));
    struck.world.service.faults.set({
      rules: [{ operations: ['login'], next: 1, answer: { as } }],
      expireTokens: true,
    });
    const { logins } = struck.ledger.summary();
    const ids = await struck.pay(20);
    await struck.scored(...ids);
    expect(struck.ledger.summary().logins).toBe(logins + 1);
    const scores = await Promise.all(ids.map(async (id) => await struck.scoreOf(id)));
    expect(scores.every(({ attempts, possibly_scored_before: maybe }) => attempts === 1 && !maybe)).toBe(true);
  });

  test('that ends again and again is named, and logins are few', async () => {
    struck.world.service.faults.set({ expireTokens: true });
    const { logins } = struck.ledger.summary();
    const ids = await struck.pay(20);
    await heldBy('sessions_displace_each_other');
    expect(struck.ledger.summary().logins - logins).toBeLessThanOrEqual(2);
    struck.world.service.faults.set({});
    await struck.restart();
    await struck.scored(...ids);
  });

  test('whose fresh tokens are refused is not asked for again and again', async () => {
    const fault: FaultSettings = {
      rules: [{ operations: ['login'], answer: { as: 'token_dead' } }],
      expireTokens: true,
    };
    struck.world.service.faults.set(fault);
    const { logins, unauthorised } = struck.ledger.summary();
    const ids = await struck.pay(60);
    await heldBy('service_refuses');
    expect(await requestsWithin(1000)).toBe(0);
    const after = struck.ledger.summary();
    expect(after.logins - logins).toBeLessThanOrEqual(2);
    expect(after.unauthorised - unauthorised).toBeLessThanOrEqual(2 * 64);
    struck.world.service.faults.set({});
    await struck.restart();
    await struck.scored(...ids);
  });

  test('that is refused by user name and password holds, with two logins, and no payment goes out', async () => {
    struck.world.service.faults.set({ loginStatus: 401, expireTokens: true });
    const { refusedLogins } = struck.ledger.summary();
    const ids = await struck.pay(30);
    await heldBy('credentials_refused');
    await sleep(1000);
    expect(struck.ledger.summary().refusedLogins - refusedLogins).toBeLessThanOrEqual(2);
    struck.world.service.faults.set({});
    await struck.restart();
    await struck.scored(...ids);
  });

  test('is tried again through answers that hold no token, until there is one', async () => {
    const login = { operations: ['login'], next: 1 } as const;
    struck.world.service.faults.set({
      rules: [
        { ...login, answer: { as: 'token_missing' } },
        { ...login, status: { code: 500 } },
        { ...login, answer: { as: 'token_odd' } },
        { ...login, answer: { as: 'close' } },
        { ...login, answer: { as: 'html' } },
        { ...login, answer: { as: 'hang' } },
        { ...login, answer: { as: 'token_number' } },
        { ...login, status: { code: 503, retryAfter: '1' } },
      ],
    });
    await struck.restart();
    const ids = await struck.pay(1);
    await struck.scored(...ids);
    await eventually('the login that worked is said', () =>
      struck.connector.said('login').some(({ result }) => result === 'ok'),
    );
    expect(struck.connector.said('login').filter(({ result }) => result === 'failed')).toHaveLength(8);
  });
});

test('in all of this nothing was lost or out of order, and nothing was told of what was in it', async () => {
  await struck.expectAllSettled();
  expect(new Set(struck.reasons)).toEqual(new Set(['status_422']));
  await struck.expectNothingTold();
});
