import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type HoldCause } from '../../src/kernel/outcome.ts';
import { type FaultSettings } from '../../src/sandbox/service/faults.ts';
import { eventually } from '../support/eventually.ts';
import { expectAllSettled, expectNothingTold, StruckWorld } from './struck-world.ts';

/** So many that some were not tried yet when the breaker opens; without them nothing could probe. */
const MORE_THAN_AT_ONCE = 200;

let struck: StruckWorld;
/** Payments that waited when their connector ended; the last one scores them all. */
const owed: string[] = [];
const owedUpdates: string[] = [];

beforeAll(async () => {
  struck = await StruckWorld.open(inject('kafka'));
});
afterAll(async () => {
  await struck.close();
});

/**
 * A new process in a world that is ill so. After such a fault the service is asked once in 8 s; what a new
 * process has not learnt yet it does not wait for.
 */
async function restartUnder(fault: FaultSettings): Promise<void> {
  struck.world.service.faults.set(fault);
  await struck.restart();
}

async function payInVain(count: number): Promise<void> {
  owed.push(...(await struck.pay(count)));
}

async function heldBy(cause: HoldCause): Promise<void> {
  await eventually(`a hold by ${cause}`, async () => {
    const holds = (await struck.connector.status())?.holds ?? [];
    return holds.some((hold) => hold.cause === cause && hold.mend.length > 0);
  });
  expect(await struck.connector.text('/metrics')).toMatch(new RegExp(`fraud_connector_hold{[^}]*"${cause}"[^}]*} 1`));
}

/** No request of a payment but a probe comes within a second, once what had begun has ended. */
async function expectSilence(): Promise<void> {
  await eventually('what had begun has ended', async () => (await struck.connector.flow('scoring'))?.inFlight === 0);
  const { scoreRequests } = struck.ledger.summary();
  await sleep(1000);
  expect(struck.ledger.summary().scoreRequests - scoreRequests).toBeLessThanOrEqual(1);
}

describe('a service that answers everybody alike is a hold, and is left alone', () => {
  test('by ways that are closed or lead elsewhere, or by the page of a proxy: no letter', async () => {
    const ways: readonly FaultSettings[] = [
      { share: 0.25, status: { code: 403 } },
      { share: 0.33, status: { code: 307, location: 'elsewhere' } },
      { share: 0.5, status: { code: 404 } },
      { answer: { as: 'html', carriedOut: false } },
    ];
    struck.world.service.faults.set({ rules: ways });
    await payInVain(MORE_THAN_AT_ONCE);
    await heldBy('service_refuses');
    await expectSilence();
    expect(struck.reasons).toEqual([]);
    expect(struck.ledger.summary().redirectsFollowed).toBe(0);
  });

  test('by a refusal of every payment, from the start: no letter', async () => {
    const letters = struck.reasons.length;
    await restartUnder({ operations: ['score'], status: { code: 422 } });
    await payInVain(MORE_THAN_AT_ONCE);
    await heldBy('service_refuses');
    await expectSilence();
    expect(struck.reasons).toHaveLength(letters);
  });

  test('by a refusal of every status update: no letter', async () => {
    const letters = struck.reasons.length;
    await restartUnder({ operations: ['sync'], status: { code: 400 } });
    const ids = await struck.pay(60);
    await struck.scored(...ids);
    const { batches } = struck.ledger.summary();
    await struck.report(...ids);
    owedUpdates.push(...ids);
    await eventually('the updates wait', async () =>
      ((await struck.connector.flow('sync'))?.waits ?? []).some(
        ({ cause, records }) => cause === 'service_refuses' && records === ids.length,
      ),
    );
    expect(struck.ledger.summary().batches - batches).toBeLessThanOrEqual(2 * ids.length + 8);
    expect(struck.reasons).toHaveLength(letters);
  });
});

describe('a session', () => {
  test.for(['token_past', 'token_opaque'] as const)('whose token tells nothing of its life is used: %s', async (as) => {
    const { logins } = struck.ledger.summary();
    await restartUnder({ rules: [{ operations: ['login'], next: 1, answer: { as } }] });
    await struck.scored(...(await struck.pay(20)));
    expect(struck.ledger.summary().logins).toBe(logins + 1);
  });

  test('whose fresh tokens are refused is a hold, with two logins and one repeat of each request', async () => {
    const { logins, unauthorised } = struck.ledger.summary();
    await restartUnder({ rules: [{ operations: ['login'], answer: { as: 'token_dead' } }] });
    await payInVain(60);
    await heldBy('service_refuses');
    await expectSilence();
    const after = struck.ledger.summary();
    expect(after.logins - logins).toBeLessThanOrEqual(2);
    expect(after.unauthorised - unauthorised).toBeLessThanOrEqual(2 * 64);
  });

  test('that is refused by user name and password is a hold, with one login, and no payment goes out', async () => {
    const { refusedLogins, scoreRequests } = struck.ledger.summary();
    await restartUnder({ loginStatus: 401 });
    await payInVain(30);
    await heldBy('credentials_refused');
    await sleep(1000);
    const after = struck.ledger.summary();
    expect([after.refusedLogins - refusedLogins, after.scoreRequests - scoreRequests]).toEqual([1, 0]);
  });

  test('is asked for again through answers that hold no token, until there is one; then all that waited is done', async () => {
    const login = { operations: ['login'], next: 1 } as const;
    await restartUnder({
      rules: [
        { ...login, status: { code: 500 } },
        { ...login, answer: { as: 'token_missing' } },
        { ...login, answer: { as: 'close' } },
      ],
    });
    await eventually('the login that worked is said', () =>
      struck.connector.said('login').some(({ result }) => result === 'ok'),
    );
    // The log says it once a second; the metric counts each.
    expect(struck.connector.said('login').some(({ result }) => result === 'failed')).toBe(true);
    expect(await struck.connector.text('/metrics')).toContain('fraud_connector_login_total{result="failed"} 3');
    await struck.reported(...owedUpdates);
    await eventually('each is scored or is a letter', () => {
      const scored = owed.filter((id) => (struck.seen(id)?.scored ?? 0) > 0).length;
      return scored + struck.reasons.length === owed.length;
    });
    expect(struck.reasons.length).toBeLessThan(10);
  });
});

test('in all of this nothing was lost or out of order, and nothing was told of what was in it', async () => {
  await expectAllSettled(struck);
  expect(struck.reasons).toEqual([]);
  await expectNothingTold(struck);
});
