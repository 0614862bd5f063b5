import { ACTIVITY_STATUSES, type ActivityEntry } from './activity.ts';
import { formatSeconds } from './timestamp.ts';

/** Events shown, the newest. */
const MAX_SHOWN = 500;

/** What the page shows. Texts may hold anything: they come from requests and from the address. */
export interface ActivityPage {
  /** Oldest first. */
  readonly entries: readonly Readonly<ActivityEntry>[];
  /** As they were asked for. */
  readonly query: URLSearchParams;
  /** What is wrong with what was asked for; null: nothing. */
  readonly problem: string | null;
  /** Where events go; null: nowhere. */
  readonly webhookUrl: string | null;
  /** Shown next to the URL (spec: Webhook signature). */
  readonly secret: string;
}

/** No script, nothing from elsewhere, and forms lead here alone. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --good: #1a7f37; --bad: #c93c37; --odd: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --good: #57ab5a; --bad: #f47067; --odd: #d4a72c; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.35rem; margin: 0 0 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0 0 1.25rem; }
dt { opacity: .7; } dd { margin: 0; overflow-wrap: anywhere; }
code, td.id { font-family: ui-monospace, monospace; font-size: .9em; }
form { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: end; padding: .75rem 1rem; margin: 0 0 1rem;
  border: 1px solid var(--line); border-radius: 8px; }
label { display: grid; gap: .15rem; font-size: .85rem; }
input, select, button { font: inherit; padding: .3rem .5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-size: .85rem; font-weight: 600; }
tbody tr:hover { background: var(--soft); }
td.number { text-align: right; }
.delivered { color: var(--good); } .failed, .problem { color: var(--bad); } .retrying, .not_sent { color: var(--odd); }
`;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (character) => ESCAPES[character] ?? '');
}

function time(ms: number | null): string {
  if (ms === null) return '–';
  const text = formatSeconds(ms);
  return `<time datetime="${text}">${text.replace('T', ' ').replace('Z', ' UTC')}</time>`;
}

function row(entry: Readonly<ActivityEntry>): string {
  const { status, httpStatus } = entry;
  return `<tr><td>${time(entry.at)}</td><td>${escaped(entry.type)}</td><td class="id">${escaped(entry.transId)}</td>
<td class="${status}">${status.replace('_', ' ')}</td><td class="number">${entry.attempts}</td>
<td class="number">${httpStatus === null ? '–' : String(httpStatus)}</td>
<td>${time(entry.lastAttemptAt)}</td><td>${time(entry.nextAttemptAt)}</td></tr>`;
}

function field(name: string, title: string, query: URLSearchParams, hint: string): string {
  const value = escaped(query.get(name) ?? '');
  return `<label>${title}<input name="${name}" value="${value}" placeholder="${hint}" size="22"></label>`;
}

function form(query: URLSearchParams): string {
  const options = ACTIVITY_STATUSES.map((status) => {
    const selected = query.get('status') === status ? ' selected' : '';
    return `<option value="${status}"${selected}>${status.replace('_', ' ')}</option>`;
  });
  return `<form method="get" action="/sandbox/activity">
<label>Status<select name="status"><option value="">any</option>${options.join('')}</select></label>
${field('type', 'Type', query, 'txn_manual_review')}
${field('from', 'From', query, '2026-03-01')}
${field('to', 'To', query, '2026-03-31')}
<button>Filter</button> <a href="/sandbox/activity">Show all</a>
</form>`;
}

function table(entries: ActivityPage['entries']): string {
  if (entries.length === 0) return '<p>No events.</p>';
  const shown = entries.slice(-MAX_SHOWN).toReversed();
  const count =
    shown.length === entries.length
      ? `${entries.length} ${entries.length === 1 ? 'event' : 'events'}, the newest first.`
      : `The newest ${shown.length} of ${entries.length} events.`;
  const heads = [
    'Occurred',
    'Type',
    'Transaction',
    'Status',
    'Attempts',
    'Last answer',
    'Last attempt',
    'Next attempt',
  ];
  return `<p>${count}</p>
<div class="scroll"><table>
<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead>
<tbody>
${shown.map(row).join('\n')}
</tbody></table></div>`;
}

/** The activity log as one page of plain HTML: no script, every text escaped. */
export function activityPage({ entries, query, problem, webhookUrl, secret }: ActivityPage): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Webhooks: activity log</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head>
<body><main>
<h1>Webhooks: activity log</h1>
<dl><dt>Target URL</dt><dd>${webhookUrl === null ? 'none set: nothing is sent' : `<code>${escaped(webhookUrl)}</code>`}</dd>
<dt>Secret key</dt><dd><code>${escaped(secret)}</code></dd></dl>
${form(query)}
${problem === null ? table(entries) : `<p class="problem" role="alert">${escaped(problem)}</p>`}
</main></body></html>
`;
}
