import { type HealthReport } from '../../src/telemetry/ports.ts';

/** What a connector says of itself when all is well; break one thing. */
export function healthReport(over: Partial<HealthReport> = {}): HealthReport {
  return {
    atMs: Date.UTC(2026, 2, 1, 9, 30),
    version: '1.2.3',
    account: 'shop',
    phase: 'running',
    engine: 'running',
    live: true,
    ready: true,
    phaseForMs: 60_000,
    upForMs: 61_000,
    holds: [],
    flows: [
      {
        name: 'scoring',
        ready: true,
        outcomes: { delivered: 12_345 },
        inFlight: 3,
        buffered: 5,
        bufferedBytes: 2048,
        heldKeys: 0,
        waits: [],
      },
    ],
    reviews: null,
    gates: [
      {
        flow: 'scoring',
        breaker: { state: 'closed', why: null, forMs: 60_000, probeInMs: null },
        deadLetterGuard: { state: 'permitting', forMs: 60_000, permitsInMs: null, budget: 40 },
        pausedForMs: null,
        concurrencyLimit: null,
      },
    ],
    duplicateBound: [{ flow: 'scoring', records: 7, inFlight: 3, answered: 0, unsaved: 4, unsavedForMs: 120 }],
    partitions: [
      {
        topic: 'payments.created',
        partition: 0,
        next: '1205',
        committable: '1200',
        committed: '1198',
        highWatermark: '1206',
        lag: '8',
        buffered: 5,
        paused: false,
        pauses: [],
        oldestUnfinishedAgeMs: 140,
      },
    ],
    ...over,
  };
}
