import { type Running } from '../../src/telemetry/running.ts';

/** A process in which nothing has been opened yet; put in what is to be looked at. */
export function running(over: Partial<Running> = {}): Running {
  return {
    engine: null,
    gates: [],
    group: 'fraud-connector',
    service: [],
    registry: [],
    fieldsDropped: 0,
    session: null,
    scores: null,
    updatesMaybeSent: null,
    writes: [],
    webhooks: null,
    heartbeatAtMs: null,
    ...over,
  };
}
