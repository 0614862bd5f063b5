import { zeroCounters } from '../../../../src/sandbox/service/ledger-counters.ts';
import { type Moment } from '../../../../src/app/demo/moment.ts';
import { type Scene } from '../../../../src/app/demo/scene.ts';

/** A moment at which nothing has happened yet. */
export function emptyMoment(change: Partial<Moment> = {}): Moment {
  return {
    second: 0,
    created: 0,
    authorized: 0,
    lag: null,
    lagByTopic: null,
    decisions: { approve: 0, decline: 0, manual_review: 0, custom: 0 },
    ledger: { ...zeroCounters(), updatesByStatus: {} },
    published: 0,
    scores: 0,
    latencyMs: null,
    counts: { batchesClosedBy: { records: 0, bytes: 0, age: 0, stop: 0 }, webhooksTaken: 0, webhooksRefused: 0 },
    poison: 0,
    letters: 0,
    doubled: 0,
    outOfOrder: 0,
    connector: { pid: 4711, kills: 0, phase: 'running' },
    holds: [],
    gates: [],
    ...change,
  };
}

/** A picture of a moment, with nothing in its history. */
export function sceneOf(moment: Moment, change: Partial<Scene> = {}): Scene {
  return {
    forMs: 84_000,
    leftMs: null,
    act: 'open',
    moment,
    rate: () => 0,
    series: () => [],
    places: {
      statusUrl: 'http://127.0.0.1:27348/status',
      ledgerUrl: 'http://127.0.0.1:36881/sandbox/ledger',
      activityUrl: 'http://127.0.0.1:36881/sandbox/activity',
      kafka: '127.0.0.1:23239 (java)',
      registryUrl: 'http://127.0.0.1:25696/apis/ccompat/v7',
      logFile: '/tmp/run/connector.log',
      topics: {
        prefix: '',
        created: 'payments.created',
        authorized: 'payments.authorized',
        reviews: 'fraud.reviews',
        scores: 'fraud.scores',
      },
    },
    news: [],
    illForMs: null,
    last: false,
    ...change,
  };
}
