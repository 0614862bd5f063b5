import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { documentedFields, placesIn } from '../docs/status-fields.ts';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, reckonPayments, somePayments, trade } from '../support/payment-world.ts';
import { headerTexts, type TopicLog } from '../support/topic-log.ts';

const PARTITIONS = 3;
const CONCURRENCY = 8;
const BATCH = 10;
const BATCHES = 2;
const COMMIT_MS = 100;
/** For a commit to be made and answered on a busy machine. */
const COMMIT_ANSWER_MS = 300;

const payments = somePayments(500, { customers: 150 });

describe('a connector that ends in mid-traffic', () => {
  let world: PaymentWorld;
  let scores: TopicLog;

  beforeEach(async () => {
    const env = {
      SCORING_CONCURRENCY: String(CONCURRENCY),
      SYNC_BATCH_MAX_RECORDS: String(BATCH),
      SYNC_BATCHES_IN_FLIGHT: String(BATCHES),
      COMMIT_INTERVAL_MS: String(COMMIT_MS),
    };
    world = await PaymentWorld.open({
      ...inject('kafka'),
      partitions: PARTITIONS,
      env,
      service: { reviewAfterMs: 600_000 },
    });
    world.service.faults.set({ latencyMs: 20, latencyJitterMs: 20 });
    scores = await world.read(world.topics.scores);
  });
  afterEach(async () => {
    await world.close();
  });

  /** Resolves when some of the payments have been scored and some of their statuses reported, but not nearly all. */
  const inMidTraffic = async (): Promise<void> => {
    const { scorings, updates } = await eventually('traffic', () => {
      const summary = world.service.ledger().summary();
      return summary.scorings >= 250 && summary.updates >= 50 && summary;
    });
    expect(scorings).toBeLessThan(payments.length);
    expect(updates).toBeLessThan(payments.length);
  };

  /** Resolves when every payment is scored, its score published, its status linked, and every record committed. */
  const everythingDone = async (...connectors: readonly ConnectorProcess[]): Promise<void> => {
    await eventually('nothing is lost', () => reckonPayments(world, payments).lost === 0, 20_000);
    await eventually('everything is committed', async () => {
      const reports = await Promise.all(connectors.map(async (connector) => await connector.status()));
      const partitions = reports.flatMap((report) => report?.partitions ?? []);
      return partitions.length === 2 * PARTITIONS && partitions.every(({ lag }) => lag === '0');
    });
    await eventually('every score is published', () => scoreIds().size === payments.length);
  };

  const scoreIds = (): Set<string> => new Set(scores.records.map((record) => headerTexts(record)['ce_id'] ?? ''));

  test('by SIGTERM: exits 0, and after the next start nothing is lost, doubled or out of order', async () => {
    const first = await (await world.start()).ready();
    const traffic = trade(world, payments);
    await inMidTraffic();
    expect(await first.stop()).toMatchObject({ code: 0 });
    expect(first.said('stopped')).toMatchObject([{ unfinished: 0 }]);
    const open = world.service.ledger().summary();
    expect(open.scorings).toBeLessThan(payments.length);
    await traffic;

    const second = await (await world.start()).ready();
    await everythingDone(second);
    expect(reckonPayments(world, payments)).toMatchObject({ lost: 0, doubled: 0, outOfOrder: 0 });
    expect(scores.records).toHaveLength(payments.length);
    expect(await second.stop()).toMatchObject({ code: 0 });
  });

  test('by kill -9: after the next start nothing is lost or out of order, and only what was open is doubled', async () => {
    const first = await (await world.start()).ready();
    const ended: { readonly atMs: number; readonly scorings: number; readonly updates: number }[] = [];
    const sampling = setInterval(() => {
      const { scorings, updates } = world.service.ledger().summary();
      ended.push({ atMs: performance.now(), scorings, updates });
    }, 5);
    const traffic = trade(world, payments);
    await inMidTraffic();
    const { signal, atMs } = await first.kill();
    clearInterval(sampling);
    expect(signal).toBe('SIGKILL');
    await traffic;

    const second = await (await world.start()).ready();
    await everythingDone(second);
    const { doubled, ...others } = reckonPayments(world, payments);
    expect(others).toMatchObject({ lost: 0, outOfOrder: 0 });
    const { repeatedScorings, repeatedUpdates } = world.service.ledger().summary();
    expect(doubled).toBe(repeatedScorings + repeatedUpdates);
    const before = ended.findLast((sample) => sample.atMs < atMs - COMMIT_MS - COMMIT_ANSWER_MS);
    const last = ended.at(-1);
    expect(repeatedScorings).toBeLessThanOrEqual(2 * CONCURRENCY + (last?.scorings ?? 0) - (before?.scorings ?? 0));
    expect(repeatedUpdates).toBeLessThanOrEqual(BATCHES * BATCH + (last?.updates ?? 0) - (before?.updates ?? 0));
    expect(await second.stop()).toMatchObject({ code: 0 });
  });

  test('by kill -9 while nothing moves: no more is doubled than the bound that it had told', async () => {
    const first = await (await world.start()).ready();
    const traffic = trade(world, payments);
    await inMidTraffic();
    world.service.faults.set({ latencyMs: 60_000, latencyJitterMs: 0 });
    await traffic;
    const bounds = await eventually('nothing moves', async () => {
      const told = (await first.status())?.duplicateBound ?? [];
      const scoring = told.find(({ flow }) => flow === 'scoring');
      return scoring?.inFlight === CONCURRENCY && scoring.unsaved === 0 && told;
    });
    await first.kill();
    world.service.faults.set({ latencyMs: 5, latencyJitterMs: 0 });

    const second = await (await world.start()).ready();
    await everythingDone(second);
    const { repeatedScorings, repeatedUpdates } = world.service.ledger().summary();
    const boundOf = (name: string): number => bounds.find(({ flow }) => flow === name)?.records ?? 0;
    expect(repeatedScorings).toBeLessThanOrEqual(boundOf('scoring'));
    expect(repeatedUpdates).toBeLessThanOrEqual(boundOf('sync'));
    await eventually('the bound falls to nothing', async () => {
      const told = (await second.status())?.duplicateBound ?? [];
      return told.length === 2 && told.every(({ records }) => records === 0);
    });
    const documented = new Set(documentedFields());
    // `reviews` is null here, which the first of its fields says.
    const others = placesIn(await second.status()).filter((place) => place !== 'reviews');
    expect(others.filter((place) => !documented.has(place))).toEqual([]);
    expect(await second.stop()).toMatchObject({ code: 0 });
  });

  test('or gets company, and loses it again: nothing is lost, doubled or out of order', async () => {
    world.service.faults.set({ latencyMs: 40, latencyJitterMs: 40 });
    const first = await (await world.start()).ready();
    const traffic = trade(world, payments.slice(0, 300));
    await eventually('traffic', () => world.service.ledger().summary().scorings > 50);
    const second = await (await world.start()).ready();
    await traffic;
    await eventually('both work', async () => {
      const shares = await Promise.all([first, second].map(async (each) => (await each.status())?.partitions.length));
      return shares.every((share) => share !== undefined && share >= 2) && shares.reduce((a = 0, b = 0) => a + b) === 6;
    });
    const more = trade(world, payments.slice(300));
    await eventually('more traffic', () => world.service.ledger().summary().scorings > 320);
    expect(await first.stop()).toMatchObject({ code: 0 });
    await more;
    await everythingDone(second);
    expect(reckonPayments(world, payments)).toMatchObject({ lost: 0, doubled: 0, outOfOrder: 0 });
    expect(scores.records).toHaveLength(payments.length);
    expect(await second.stop()).toMatchObject({ code: 0 });
  });

  test('by a second SIGTERM: exits 1 at once, whatever is in flight', async () => {
    world.service.faults.set({ latencyMs: 1500 });
    const connector = await (await world.start()).ready();
    await trade(world, payments.slice(0, CONCURRENCY));
    await eventually('requests are in flight', () => world.service.ledger().summary().scoreRequests > 0);
    connector.signal('SIGTERM');
    await eventually('the stop was heard', () => connector.said('stopping').length === 1);
    const askedMs = performance.now();
    connector.signal('SIGTERM');
    const { code, atMs } = await connector.ended;
    expect(code).toBe(1);
    expect(atMs - askedMs).toBeLessThan(500);
  });
});
