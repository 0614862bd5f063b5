import { ACTIVITY_STATUSES, type ActivityFilter, type ActivityLog } from './activity.ts';
import { activityPage, PAGE_HEADERS } from './activity-page.ts';
import { type Answer, errorAnswer } from './answer.ts';
import { dateDefect, timestampDefect } from './timestamp.ts';

const DAY_MS = 86_400_000;

/** Where webhooks go, and what they are signed with. */
export interface WebhookTarget {
  readonly url: string | null;
  readonly secret: string;
}

/** The activity log, filtered as the query says: JSON, or a page for who accepts HTML (spec: What the service does). */
export function viewActivity(
  { query, accept }: { readonly query: URLSearchParams; readonly accept: string },
  activity: ActivityLog,
  { url, secret }: WebhookTarget,
): Answer {
  const filter = readFilter(query);
  const problem = typeof filter === 'string' ? filter : null;
  const entries = typeof filter === 'string' ? [] : activity.list(filter);
  if (/\btext\/html\b/iu.test(accept)) {
    const body = activityPage({ entries, query, problem, webhookUrl: url, secret });
    return { status: problem === null ? 200 : 400, body, headers: PAGE_HEADERS };
  }
  if (problem !== null) return errorAnswer(400, problem);
  return { status: 200, body: JSON.stringify({ events: entries }) };
}

/** Empty texts are what a form sends for a field that was left alone. */
function readFilter(query: URLSearchParams): ActivityFilter | string {
  const [status, type, from, to] = ['status', 'type', 'from', 'to'].map((name) => query.get(name) ?? '');
  const known = ACTIVITY_STATUSES.find((one) => one === status);
  if (status !== '' && known === undefined) return `status must be one of ${ACTIVITY_STATUSES.join(', ')}`;
  const fromMs = timeOf(from ?? '', 0);
  const toMs = timeOf(to ?? '', DAY_MS);
  const must = 'must be an RFC 3339 time with a zone, or a day such as 2026-03-01';
  if (Number.isNaN(fromMs)) return `from ${must}`;
  if (Number.isNaN(toMs)) return `to ${must}`;
  return {
    ...(known === undefined ? {} : { status: known }),
    ...(type === undefined || type === '' ? {} : { type }),
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(toMs === undefined ? {} : { toMs }),
  };
}

/** Milliseconds since 1970; a day (UTC) is its begin, `afterDayMs` later. Undefined: not asked for; NaN: not a time. */
function timeOf(text: string, afterDayMs: number): number | undefined {
  if (text === '') return undefined;
  if (dateDefect(text) === 'zone_missing') return Date.parse(`${text}T00:00:00Z`) + afterDayMs;
  return timestampDefect(text) === null ? Date.parse(text) : Number.NaN;
}
