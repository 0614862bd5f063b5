import { type FaultSettings } from '../../src/sandbox/service/faults.ts';
import { type Settings } from '../../src/sandbox/service/settings.ts';
import { type Login, type Sighting } from './sightings.ts';

/** One way in which the service, or its login, is ill, and how one sees that it befell somebody. */
export interface Ill {
  readonly faults: FaultSettings;
  /** Of the service, while it lasts. */
  readonly settings?: Partial<Settings>;
  /** Requests that look like this came of it. */
  readonly shows: (seen: Sighting) => boolean;
  /** Logins that look like this came of it; absent: it is not about logins. */
  readonly showsLogin?: (seen: Login) => boolean;
  /** Connections that were not taken came of it. */
  readonly isRefusal?: true;
}

const answered = (status: number) => (seen: { readonly status: number | null }) => seen.status === status;
const tookMs =
  (leastMs: number) =>
  ({ startedMs, endedMs }: Sighting): boolean =>
    endedMs !== null && endedMs - startedMs >= leastMs;
const never = (): boolean => false;
const unanswered = ({ status }: Sighting): boolean => status === null;

/** Every ill of the campaign. None of them is a record's own fault: none may make a dead letter. */
export const ILLS = {
  unavailable: { faults: { status: { code: 503 } }, shows: answered(503) },
  half_of_it_fails: { faults: { status: { code: 500, share: 0.5 } }, shows: answered(500) },
  too_many_requests: { faults: { status: { code: 429, retryAfter: '3' } }, shows: answered(429) },
  rate_limited: { faults: { rateLimit: { perSecond: 20, retryAfter: '1' } }, shows: answered(429) },
  wrong_place: { faults: { status: { code: 404 } }, shows: answered(404) },
  error_msg: { faults: { answer: { as: 'error_msg' } }, shows: unanswered },
  page_of_a_proxy: { faults: { answer: { as: 'html' } }, shows: unanswered },
  breaks_off: { faults: { answer: { as: 'truncated' } }, shows: unanswered },
  resets_before: { faults: { resetBeforeShare: 0.7 }, shows: unanswered },
  resets_after: { faults: { resetShare: 0.7 }, shows: unanswered },
  slow: { faults: { latencyMs: 900, latencyJitterMs: 600 }, shows: tookMs(900) },
  never_answers: { faults: { latencyMs: 30_000 }, shows: unanswered },
  slow_body: { faults: { slowBodyMs: 1200 }, shows: tookMs(1200) },
  refuses_connections: { faults: { refuseConnectionsMs: 6000 }, shows: unanswered, isRefusal: true },
  tokens_expire: { faults: { expireTokens: true }, shows: answered(401) },
  logins_fail: { faults: { expireTokens: true, loginStatus: 503 }, shows: answered(401), showsLogin: answered(503) },
  logins_refused: { faults: { expireTokens: true, loginStatus: 401 }, shows: answered(401), showsLogin: answered(401) },
  sessions_displaced: {
    faults: { expireTokens: true },
    settings: { oneTokenPerUser: true },
    shows: answered(401),
  },
  tokens_dead: {
    faults: { expireTokens: true, rules: [{ answer: { as: 'token_dead' }, operations: ['login'] }] },
    shows: answered(401),
    showsLogin: never,
  },
} as const satisfies Record<string, Ill>;

export type IllName = keyof typeof ILLS;

export const ILL_NAMES = Object.keys(ILLS) as readonly IllName[];

/** Whether a broken answer is none to whom asked. Nothing is said of what a good answer to status updates holds: 200 with a proxy's page is one. */
export function isNoAnswer(fault: FaultSettings['answer'], kind: Sighting['kind']): boolean {
  return fault !== undefined && fault !== null && (kind === 'score' || fault.as !== 'html');
}

/** How many requests and logins since `sinceMs`, and of `refused` connections since then, show that this ill has befallen somebody. */
export function strokesOf(
  name: IllName,
  seen: { readonly sightings: readonly Sighting[]; readonly logins: readonly Login[]; readonly refused: number },
  sinceMs: number,
): number {
  const { isRefusal, shows, showsLogin = never }: Ill = ILLS[name];
  const isSince = ({ startedMs }: { readonly startedMs: number }): boolean => startedMs >= sinceMs;
  return (
    seen.sightings.filter((each) => isSince(each) && shows(each)).length +
    seen.logins.filter((each) => isSince(each) && showsLogin(each)).length +
    (isRefusal === true ? seen.refused : 0)
  );
}
