import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, reckonPayments, somePayments, trade } from '../support/payment-world.ts';

/** In the error, and never in what is printed. */
const UNTOLD = 'untold-card-4111111111111111';
const payments = somePayments(200, { customers: 60 });

/** It has ended by itself, has said why last of all, and nothing of the text. */
async function expectEnd(connector: ConnectorProcess): Promise<void> {
  expect(await connector.ended).toMatchObject({ code: 1, signal: null });
  const message = expect.stringContaining('TypeError') as string;
  expect(connector.said('fatal')).toMatchObject([{ code: 'INTERNAL', message }]);
  expect(connector.log.at(-1)).toMatchObject({ event: 'fatal' });
  expect(connector.output).not.toContain(UNTOLD);
}

const preloadOf = (by: 'throw' | 'reject'): string =>
  `--import=${new URL(`../support/preload/hurt.ts?by=${by}&text=${UNTOLD}`, import.meta.url).href}`;

test.each(['throw', 'reject'] as const)('a command other than `run` ends likewise, with one line: %s', async (by) => {
  const sandbox = await ConnectorProcess.start({ NODE_OPTIONS: preloadOf(by) }, ['sandbox', '--port', '0']);
  await eventually('the sandbox is ready', () => sandbox.stderr.some((line) => line.includes('is ready')));
  sandbox.signal('SIGUSR2');
  expect(await sandbox.ended).toMatchObject({ code: 1, signal: null });
  expect(sandbox.stderr.at(-1)).toBe('INTERNAL: Something was thrown that nothing caught: TypeError.');
  expect(sandbox.output).not.toContain(UNTOLD);
});

describe('a connector in which something is thrown that nothing catches', () => {
  let world: PaymentWorld;

  beforeAll(async () => {
    const env = { SCORING_CONCURRENCY: '8', SYNC_BATCH_MAX_RECORDS: '10', COMMIT_INTERVAL_MS: '100' };
    world = await PaymentWorld.open({ ...inject('kafka'), env, service: { reviewAfterMs: 600_000 } });
    world.service.faults.set({ latencyMs: 20 });
  });
  afterAll(async () => {
    await world.close();
  });

  const hurt = async (by: 'throw' | 'reject'): Promise<ConnectorProcess> => {
    return await (await world.start({ NODE_OPTIONS: preloadOf(by) })).ready();
  };
  test('ends at once with exit code 1, tells its kind and not its text, also where a promise is rejected that nobody waits for', async () => {
    const idle = await hurt('reject');
    idle.signal('SIGUSR2');
    await expectEnd(idle);
    expect(idle.isAlive).toBe(false);
  });

  test('in mid-traffic, ends as after a kill: nothing is lost or out of order', async () => {
    const first = await hurt('throw');
    const traffic = trade(world, payments);
    await eventually('traffic', () => world.service.ledger().summary().scorings >= 50);
    first.signal('SIGUSR2');
    await expectEnd(first);
    expect(world.service.ledger().summary().scorings).toBeLessThan(payments.length);
    await traffic;

    const second = await (await world.start()).ready();
    await eventually('everything is done', async () => {
      const partitions = (await second.status())?.partitions ?? [];
      const { lost } = reckonPayments(world, payments);
      return lost === 0 && partitions.length === 2 && partitions.every(({ lag }) => lag === '0');
    });
    expect(reckonPayments(world, payments)).toMatchObject({ lost: 0, outOfOrder: 0 });
    expect(await second.stop()).toMatchObject({ code: 0 });
  });
});
