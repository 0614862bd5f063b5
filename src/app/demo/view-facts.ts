import { shares, short, time, whole } from './figures.ts';
import { type Line, type Look, type Span, span, widthOf } from './line.ts';
import { type Decisions, onItsWay } from './moment.ts';
import { LABEL, labelled, type Row, row } from './row.ts';
import { type Scene } from './scene.ts';

const DECISIONS: readonly {
  readonly name: keyof Decisions;
  readonly word: string;
  readonly look: Look;
  readonly fill: string;
}[] = [
  { name: 'approve', word: 'approve', look: 'good', fill: '█' },
  { name: 'manual_review', word: 'review', look: 'odd', fill: '▓' },
  { name: 'decline', word: 'decline', look: 'bad', fill: '▒' },
  { name: 'custom', word: 'custom', look: 'calm', fill: '░' },
];
const LEAST_BAR = 8;

function decisionsLine(decisions: Decisions, columns: number): Line {
  const counts = DECISIONS.flatMap(({ name, word, look, fill }) => [
    span(` ${fill} `, look),
    span(`${word} ${whole(decisions[name])}`),
  ]);
  const width = columns - LABEL - widthOf(counts);
  if (width < LEAST_BAR) return labelled('decisions', ...counts);
  const parts = shares(
    DECISIONS.map(({ name }) => decisions[name]),
    Math.min(width, 40),
  );
  const bar = DECISIONS.map(({ look, fill }, index) => span(fill.repeat(parts[index] ?? 0), look));
  return labelled('decisions', ...bar, ...counts);
}

/** What came of it so far. */
export function factRows({ moment }: Scene, columns: number): readonly Row[] {
  const { ledger, counts, latencyMs, published, poison, letters } = moment;
  const { records, bytes, age, stop } = counts.batchesClosedBy;
  const mean = ledger.batches === 0 ? '-' : (ledger.updates / ledger.batches).toFixed(1);
  const open = onItsWay(moment);
  return [
    row(2, ...decisionsLine(moment.decisions, columns)),
    row(
      2,
      ...labelled(
        'latency',
        span(latencyMs === null ? '-' : `p50 ${time(latencyMs.p50)}  p99 ${time(latencyMs.p99)}`, 'strong'),
        span('  payment written to score record, last minute', 'faint'),
      ),
    ),
    row(
      2,
      ...labelled(
        'batches',
        span(`${whole(ledger.batches)}, ${mean} statuses each`, 'strong'),
        span(`  closed by records ${short(records)}, bytes ${short(bytes)}, age ${short(age)}, stop ${short(stop)}`),
      ),
    ),
    row(
      2,
      ...labelled(
        'reviews',
        span(`${whole(published)} of ${whole(ledger.reviews)} published`, 'strong'),
        span(`  webhooks answered 200: ${whole(counts.webhooksTaken)}, else: ${whole(counts.webhooksRefused)}`),
      ),
    ),
    row(
      1,
      ...labelled(
        'so far',
        span(`${whole(open)} on the way`),
        ...bad('doubled', moment.doubled, moment.connector.kills > 0),
        ...bad('out of order', moment.outOfOrder, false),
        span(`, ${whole(letters)} dead-lettered for ${whole(poison)} poison`),
      ),
    ),
  ];
}

/** A count that should be zero; `excused`: a kill may be the reason. */
function bad(what: string, count: number, excused: boolean): readonly Span[] {
  return [span(', '), span(`${whole(count)} ${what}`, count === 0 ? 'good' : excused ? 'odd' : 'bad')];
}
