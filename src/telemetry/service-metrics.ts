import { type ReadMetric } from './metric-row.ts';
import { type Running } from './running.ts';

export type ServiceMetricName =
  | 'session_token_age_seconds'
  | 'session_token_expires_in_seconds'
  | 'session_young_tokens_refused'
  | 'scoring_decisions_total'
  | 'scoring_validations_total'
  | 'duplicates_suspected_total'
  | 'schema_registry_requests_total'
  | 'writer_fields_dropped_total'
  | 'heartbeat_age_seconds';

/** A metric that is read from the edges, and from what flows count of the service's answers. */
export type ServiceMetric = ReadMetric<Running>;

type Gist = 'ok' | 'not_found' | 'refused' | 'failed';
const GISTS: readonly Gist[] = ['ok', 'not_found', 'refused', 'failed'];

function gistOf(end: number | string): Gist {
  if (typeof end === 'string' || end >= 500 || end === 429 || end === 408) return 'failed';
  if (end === 404) return 'not_found';
  return end < 400 ? 'ok' : 'refused';
}

function byName(
  label: string,
  counts: Readonly<Record<string, number>> | undefined,
): ReturnType<ServiceMetric['samples']> {
  return Object.entries(counts ?? {}).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

/** No sample where there is nothing to tell the age of. */
function seconds(ms: number | null): ReturnType<ServiceMetric['samples']> {
  return ms === null ? [] : [{ labels: {}, value: ms / 1000 }];
}

/** The metrics of sessions, scores, the registry and the group. */
export const SERVICE_METRICS: { readonly [N in ServiceMetricName]: ServiceMetric } = {
  session_token_age_seconds: {
    type: 'gauge',
    labels: [],
    means: 'Age of the session token in use. No sample: there is none.',
    rise: 'It rises and falls back at each login. No sample for long while there is work: look at `login_total`.',
    samples: ({ session }, { monotonicMs }) =>
      seconds(session === null || session.sinceMs === null ? null : Math.max(0, monotonicMs - session.sinceMs)),
  },
  session_token_expires_in_seconds: {
    type: 'gauge',
    labels: [],
    means:
      'How long the session token is still good for, by its own word; below 0: it has expired. No sample: there is none.',
    rise: 'A fall below a fifth of its life: logins fail, look at `login_total`. Work goes on until it is 0.',
    samples: ({ session }, { monotonicMs }) =>
      seconds(session === null || session.expiresAtMs === null ? null : session.expiresAtMs - monotonicMs),
  },
  session_young_tokens_refused: {
    type: 'gauge',
    labels: [],
    means:
      'Tokens that the service refused within ten minutes of their login, in the last ten minutes; at 3 logins are spaced out.',
    rise: 'Another program logs in with the same user and ends our sessions: give each a user of its own.',
    samples: ({ session }) => (session === null ? [] : [{ labels: {}, value: session.youngRefused }]),
  },
  scoring_decisions_total: {
    type: 'counter',
    labels: ['decision'],
    means:
      'Payments that the service has scored, by its decision: `approve`, `decline`, `manual_review`, `custom`, `unknown`.',
    rise: '`unknown`: the service answers something new, see `answers_unrecognised_total`. A shift between the others: tell whoever owns the fraud rules.',
    samples: ({ scores }) => byName('decision', scores?.decisions),
  },
  scoring_validations_total: {
    type: 'counter',
    labels: ['result'],
    means:
      'What the service said of the datapoints of scored payments: `ok`, `findings` (it found something wrong), `unsaid`.',
    rise: '`findings`: datapoints are malformed or missing, so scores are worth less. The findings are in `fraud.scores` (`validation_errors`); `explain` shows what was sent.',
    samples: ({ scores }) => byName('result', scores?.validations),
  },
  duplicates_suspected_total: {
    type: 'counter',
    labels: ['flow'],
    means:
      'Done again although an earlier attempt may have been carried out (no answer, or 500, 502, 504): payments that were scored then, with `possibly_scored_before` in their score; status updates that are sent again.',
    rise: 'Answers get lost: SERVICE_TIMEOUT_MS or SYNC_TIMEOUT_MS is shorter than the service is slow, or something between cuts connections.',
    samples: ({ scores, updatesMaybeSent }) => [
      ...(scores === null ? [] : [{ labels: { flow: 'scoring' }, value: scores.repeated }]),
      ...(updatesMaybeSent === null ? [] : [{ labels: { flow: 'sync' }, value: updatesMaybeSent }]),
    ],
  },
  schema_registry_requests_total: {
    type: 'counter',
    labels: ['result'],
    means: 'Requests to the schema registry: `ok`, `not_found`, `refused` (another 4xx), `failed` (5xx, no answer).',
    rise: '`failed`: records with schemas that are not known yet wait. `refused`: check SCHEMA_REGISTRY_USERNAME and the password. `ok` steadily above 0.25 a second, which is the probes: records name one schema after another, look at the producers.',
    samples: ({ registry }) => {
      const counts: Record<Gist, number> = { ok: 0, not_found: 0, refused: 0, failed: 0 };
      for (const { ends } of registry) for (const [end, { count }] of ends) counts[gistOf(end)] += count;
      return GISTS.map((result) => ({ labels: { result }, value: counts[result] }));
    },
  },
  writer_fields_dropped_total: {
    type: 'counter',
    labels: [],
    means:
      'Fields of Avro records that were left out because our schema of the topic does not have them: of each record all such fields of its writer schema, null or not.',
    rise: 'A producer sends what the service does not get: the log line `writer_fields_dropped` names the fields. Rename them to a datapoint, or map them (docs/mapping.md).',
    samples: ({ fieldsDropped }) => [{ labels: {}, value: fieldsDropped }],
  },
  heartbeat_age_seconds: {
    type: 'gauge',
    labels: [],
    means:
      'Since the last heartbeat was sent that the group coordinator has answered; it grows on while there is no membership. No sample: none was answered since the start.',
    rise: 'Above 0.6 of KAFKA_SESSION_TIMEOUT_MS nothing is sent any more; at all of it the partitions go to others. Look at the coordinator and at `nodejs_eventloop_lag_p99_seconds`.',
    samples: ({ heartbeatAtMs }, { monotonicMs }) =>
      seconds(heartbeatAtMs === null ? null : Math.max(0, monotonicMs - heartbeatAtMs)),
  },
};
