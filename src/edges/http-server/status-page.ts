import {
  type DuplicateBound,
  type FlowReport,
  type GateHealth,
  type HealthReport,
  type HoldReport,
  type PartitionReport,
  type ReviewsReport,
} from '../../telemetry/ports.ts';
import { headlineOf } from './headline.ts';
import { type HoldGroup, holdGroups } from './hold-groups.ts';
import { PAGE_STYLE } from './page-style.ts';
import { counted, escaped, grouped, momentOf, sized, spell } from './page-words.ts';

/** More partitions than this are shown when they are asked for. */
const PARTITIONS_OPEN = 24;

/** One cell: a text, with a tone where it is worth a look. */
type Cell =
  | string
  | { readonly text: string; readonly tone?: 'well' | 'wait' | 'ill'; readonly kind?: 'text' | 'wide' };

export interface PageOptions {
  /** Asks for itself again after so many seconds; null: never. */
  readonly everySeconds: number | null;
}

/**
 * A status for people, as one HTML page without scripts, forms or anything loaded: first how it is and what is to be
 * done, then what moves and what keeps it back, last every partition. Every text is escaped.
 */
export function statusPage(report: HealthReport, { everySeconds }: PageOptions = { everySeconds: null }): string {
  const { tone, word, says } = headlineOf(report);
  const refresh = everySeconds === null ? '' : `<meta http-equiv="refresh" content="${String(everySeconds)}">`;
  const parts = [
    `<h1>fraud-screening-connector<small>${escaped(factsOf(report))}</small></h1>`,
    `<div class="card headline ${tone}"><b>${escaped(word)}</b><span>${escaped(says)}</span></div>`,
    section('Held: what waits, and what to do', holdGroups(report).map(holdCard).join('')),
    section('Flows', flowTable(report.flows)),
    section('Webhooks since the start', reviewsTable(report.reviews)),
    section('Gates: what keeps calls to the service back', gateTable(report.gates)),
    section('Topics', topicTable(report.partitions)),
    section('If it were killed now: done a second time, at most', boundTable(report.duplicateBound)),
    section('Partitions', partitionTable(report.partitions)),
    footer(everySeconds),
  ];
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${refresh}<title>${escaped(word)} · fraud-screening-connector</title><style>${PAGE_STYLE}</style></head>
<body><main>
${parts.filter((part) => part !== '').join('\n')}
</main></body>
</html>
`;
}

function factsOf({ account, version, phase, phaseForMs, upForMs, atMs }: HealthReport): string {
  return `account ${account} · version ${version} · ${phase} for ${spell(phaseForMs)}, up for ${spell(upForMs)} · ${momentOf(atMs)}`;
}

function section(title: string, content: string): string {
  return content === '' ? '' : `<section><h2>${escaped(title)}</h2>${content}</section>`;
}

function holdCard({ cause, means, mend, waiting }: HoldGroup): string {
  const facts = waiting.map(({ scope, ageMs, records, error, position }) => {
    const counts = records === null ? '' : ` (${counted(records, 'record')})`;
    const at = position === null ? '' : ` at ${position}`;
    return `${scope} for ${spell(ageMs)}${counts}${error === null && at === '' ? '' : `: ${error ?? 'failed'}${at}`}`;
  });
  return `<div class="card hold"><b>${escaped(cause)}</b><span>${escaped(facts.join(' · '))}</span><p>${escaped(means)}</p><p><strong>Do:</strong> ${escaped(mend)}</p></div>`;
}

function flowTable(flows: readonly FlowReport[]): string {
  return table(
    ['flow', 'ready', 'in flight', 'buffered', 'size', 'delivered', 'letters', 'skipped', 'waits for'],
    flows.map((flow) => [
      flow.name,
      readyCell(flow.ready),
      grouped(flow.inFlight),
      grouped(flow.buffered),
      sized(flow.bufferedBytes),
      grouped(flow.outcomes['delivered'] ?? 0),
      ended(flow, 'dead_letter:'),
      ended(flow, 'skip:'),
      { text: flow.waits.map(waitWords).join(', ') || '–', kind: 'text' },
    ]),
  );
}

function readyCell(isReady: boolean): Cell {
  return isReady ? { text: 'yes', tone: 'well' } : { text: 'no', tone: 'ill' };
}

/** How many records ended so, with each reason where there is one. */
function ended({ outcomes }: FlowReport, kind: string): Cell {
  const found = Object.entries(outcomes).filter(([name]) => name.startsWith(kind));
  const sum = found.reduce((total, [, count]) => total + count, 0);
  const reasons = found.map(([name, count]) => `${name.slice(kind.length)} ${grouped(count)}`).join(', ');
  return { text: sum === 0 ? '0' : `${grouped(sum)} (${reasons})`, kind: 'wide' };
}

function reviewsTable(reviews: ReviewsReport | null): string {
  if (reviews === null) return '';
  const { ready, accepted, published, duplicate, parked, unavailable, refused } = reviews;
  const reasons = Object.entries(refused).map(([reason, count]) => `${reason} ${grouped(count)}`);
  return table(
    ['flow', 'ready', 'accepted', 'published', 'repeats', 'letters', 'unavailable', 'refused'],
    [
      [
        'reviews',
        readyCell(ready),
        ...[accepted, published, duplicate, parked].map((count) => grouped(count)),
        unavailable === 0 ? '0' : { text: grouped(unavailable), tone: 'wait' },
        reasons.length === 0 ? '0' : { text: reasons.join(', '), tone: 'wait' },
      ],
    ],
  );
}

function waitWords({ cause, records, ageMs }: HoldReport): string {
  return `${cause} ${grouped(records ?? 0)} for ${spell(ageMs)}`;
}

function gateTable(gates: readonly GateHealth[]): string {
  return table(
    ['flow', 'breaker', 'why', 'for', 'next probe in', 'dead letters', 'again in', 'asked to wait for', 'at once'],
    gates.map(({ flow, breaker, deadLetterGuard: guard, pausedForMs, concurrencyLimit }) => [
      flow,
      { text: breaker.state.replace('_', ' '), tone: breaker.state === 'closed' ? 'well' : 'ill' },
      breaker.why ?? '–',
      spell(breaker.forMs),
      spell(breaker.probeInMs),
      {
        text: guard.state === 'permitting' ? 'permitted' : 'blocked',
        tone: guard.state === 'permitting' ? 'well' : 'ill',
      },
      spell(guard.permitsInMs),
      spell(pausedForMs),
      concurrencyLimit === null ? '–' : String(concurrencyLimit),
    ]),
  );
}

function topicTable(partitions: readonly PartitionReport[]): string {
  const topics = [...Map.groupBy(partitions, ({ topic }) => topic)];
  return table(
    ['topic', 'partitions owned', 'not committed', 'oldest in work', 'buffered', 'not read now'],
    topics.map(([topic, owned]) => [
      topic,
      grouped(owned.length),
      grouped(owned.reduce((sum, { lag }) => sum + BigInt(lag), 0n)),
      spell(oldestOf(owned)),
      grouped(owned.reduce((sum, { buffered }) => sum + buffered, 0)),
      grouped(owned.filter(({ paused }) => paused).length),
    ]),
  );
}

function oldestOf(partitions: readonly PartitionReport[]): number | null {
  const ages = partitions.flatMap(({ oldestUnfinishedAgeMs }) => oldestUnfinishedAgeMs ?? []);
  return ages.length === 0 ? null : Math.max(...ages);
}

function boundTable(bounds: readonly DuplicateBound[]): string {
  return table(
    ['flow', 'records', 'in flight', 'answered, not written', 'ended, not committed', 'for'],
    bounds.map(({ flow, records, inFlight, answered, unsaved, unsavedForMs }) => [
      flow,
      ...[records, inFlight, answered, unsaved].map((count) => grouped(count)),
      spell(unsavedForMs),
    ]),
  );
}

function partitionTable(partitions: readonly PartitionReport[]): string {
  const rows = table(
    [
      'topic',
      'partition',
      'committed',
      'committable',
      'read to',
      'end',
      'lag',
      'buffered',
      'oldest in work',
      'read now',
    ],
    partitions.map((each) => [
      each.topic,
      String(each.partition),
      each.committed ?? '–',
      each.committable,
      each.next,
      each.highWatermark,
      grouped(BigInt(each.lag)),
      grouped(each.buffered),
      spell(each.oldestUnfinishedAgeMs),
      each.paused ? { text: `no: ${each.pauses.join(', ')}`, tone: 'wait' } : 'yes',
    ]),
  );
  if (partitions.length <= PARTITIONS_OPEN) return rows;
  return `<details class="card"><summary>${counted(partitions.length, 'partition')}</summary>${rows}</details>`;
}

function footer(everySeconds: number | null): string {
  const again =
    everySeconds === null
      ? '<a href="/status?every=5">look again every 5 s</a>'
      : `looks again every ${String(everySeconds)} s; <a href="/status">stop</a>`;
  return `<footer>${again} · the same for programs: this address without <code>Accept: text/html</code> · <a href="/metrics">metrics</a></footer>`;
}

function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return '';
  const headCells = head.map((name, at) => `<th${kindOf(rows[0]?.[at])}>${escaped(name)}</th>`).join('');
  const lines = rows.map((cells) => `<tr>${cells.map(cell).join('')}</tr>`);
  return `<div class="card"><table><thead><tr>${headCells}</tr></thead><tbody>${lines.join('')}</tbody></table></div>`;
}

/** A head stands as the cells below it. */
function kindOf(content: Cell | undefined): string {
  const kind = typeof content === 'object' ? content.kind : undefined;
  return kind === undefined ? '' : ` class="${kind}"`;
}

function cell(content: Cell): string {
  if (typeof content === 'string') return `<td>${escaped(content)}</td>`;
  const { text, tone, kind } = content;
  const classes = [tone === undefined ? '' : `tone ${tone}`, kind ?? ''].filter((name) => name !== '').join(' ');
  return `<td${classes === '' ? '' : ` class="${classes}"`}>${escaped(text)}</td>`;
}
