import { type CallEndName, type GateReport } from '../resilience/ports.ts';
import { type Moment, type ReadMetric } from './metric-row.ts';

export type GateMetricName =
  | 'breaker_state'
  | 'breaker_transitions_total'
  | 'dead_letter_guard_state'
  | 'dead_letter_guard_budget'
  | 'service_pause_seconds'
  | 'concurrency_limit'
  | 'http_attempts_total';

/** A metric that is read from what keeps calls of the flows from going out. */
export type GateMetric = ReadMetric<readonly GateReport[]>;

const BREAKER_STATES = { closed: 0, half_open: 1, open: 2 } as const;
const CLASSES: readonly CallEndName[] = ['ok', 'refused', 'failed', 'no_session', 'void'];

function perGate(value: (gate: GateReport, at: Moment) => number): GateMetric['samples'] {
  return (gates, at) => gates.map((gate) => ({ labels: { flow: gate.scope }, value: value(gate, at) }));
}

/** The metrics of the gates between the flows and the screening service. */
export const GATE_METRICS: { readonly [N in GateMetricName]: GateMetric } = {
  breaker_state: {
    type: 'gauge',
    labels: ['flow'],
    means: 'The breaker of a flow: 0 closed, 1 half open (one probe at a time), 2 open (no call goes out).',
    rise: 'The service fails for everybody: first attempts for 20 keys in a row failed, or it gives no session. `hold` names which. Look at the service; the breaker closes by itself after the first good probe, at most 8 s later.',
    samples: perGate(({ breaker }) => BREAKER_STATES[breaker.state]),
  },
  breaker_transitions_total: {
    type: 'counter',
    labels: ['flow'],
    means: 'How often the state of the breaker has changed.',
    rise: 'Many in a short time: the service comes and goes, or stands no more than a few calls. Lower SCORING_CONCURRENCY or set SERVICE_MAX_REQUESTS_PER_SECOND.',
    samples: perGate(({ breakerChanges }) => breakerChanges),
  },
  dead_letter_guard_state: {
    type: 'gauge',
    labels: ['flow'],
    means:
      'The dead-letter guard of a flow: 0 it permits dead letters, 1 it blocks them (for 5 minutes; other records go on).',
    rise: 'So many records would become dead letters that the cause is no single record: look at the newest ones (`dlq list`) and at what was deployed last, here, at the producer or at the service.',
    samples: perGate(({ guard }) => (guard.state === 'blocking' ? 1 : 0)),
  },
  dead_letter_guard_budget: {
    type: 'gauge',
    labels: ['flow'],
    means: 'How many dead letters may still follow one another before the guard blocks them; at most 40.',
    rise: 'Near 0: about as many records become dead letters as DEAD_LETTER_MAX_SHARE permits.',
    samples: perGate(({ guard }) => guard.budget),
  },
  service_pause_seconds: {
    type: 'gauge',
    labels: ['flow'],
    means: 'For how much longer the service has asked to be left alone (429 with Retry-After); 0: it has not.',
    rise: 'The account is over its rate: lower SCORING_CONCURRENCY, set SERVICE_MAX_REQUESTS_PER_SECOND, or ask for more.',
    samples: perGate(({ pausedUntilMs }, { monotonicMs }) =>
      pausedUntilMs === null ? 0 : Math.max(0, pausedUntilMs - monotonicMs) / 1000,
    ),
  },
  concurrency_limit: {
    type: 'gauge',
    labels: ['flow'],
    means:
      'Requests at once that the service takes, as found out from its answers (SCORING_LIMIT=adaptive); at most SCORING_CONCURRENCY. No sample where it is not looked for.',
    rise: 'Below SCORING_CONCURRENCY for long: the service takes no more (429, 503, time-outs). If the lag grows meanwhile, only its owner can help; back at SCORING_CONCURRENCY: it takes all of them again.',
    samples: (gates) =>
      gates.flatMap(({ scope, limit }) => (limit === null ? [] : [{ labels: { flow: scope }, value: limit }])),
  },
  http_attempts_total: {
    type: 'counter',
    labels: ['flow', 'class'],
    means:
      'Calls by what they say of the service: `ok` (it did what it was asked), `refused` (400, 409, 413, 422), `failed` (any other answer, or none), `no_session`, `void` (nothing was sent: a rebalance was near).',
    rise: '`failed`: the service is ill, or single records fail; the statuses are in `http_client_request_duration_seconds`. `no_session`: see `login_total`.',
    samples: (gates) =>
      gates.flatMap(({ scope, calls }) =>
        CLASSES.map((name) => ({ labels: { flow: scope, class: name }, value: calls[name] })),
      ),
  },
};
