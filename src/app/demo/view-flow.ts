import { perSecond, short, sparkline } from './figures.ts';
import { type Counted } from './history.ts';
import { type Line, type Look, type Span, span } from './line.ts';
import { BLANK, LABEL, labelled, type Row, row } from './row.ts';
import { type Scene } from './scene.ts';

const MINUTE = 60;
const ARROW = span(' ──▶ ', 'faint');

/** The pipeline, one line a flow: what comes in, what is done with it, what comes out, each with its rate. */
export function flowRows({ rate, moment, places: { topics } }: Scene, columns: number): readonly Row[] {
  const bare = (topic: string): string => (topic.startsWith(topics.prefix) ? topic.slice(topics.prefix.length) : topic);
  const wide = columns >= 80 ? [19, 7, 13] : [8, 5, 8];
  const gap = columns >= 90 ? '    lag ' : ' lag ';
  const node = (index: number, name: string, of: Counted): readonly Span[] => {
    const width = wide[index] ?? 0;
    return [span(name.slice(0, width).padEnd(width), 'calm'), span(perSecond(rate(of)).padStart(7), 'strong')];
  };
  const lag = (topic: string): readonly Span[] => {
    const behind = moment.lagByTopic?.[topic];
    return [span(gap, 'faint'), span(behind === undefined ? '-' : short(behind))];
  };
  return [
    row(
      0,
      span(' '),
      ...node(0, bare(topics.created), 'created'),
      ARROW,
      ...node(1, 'score', 'scored'),
      ARROW,
      ...node(2, topics.scores === null ? '(none)' : bare(topics.scores), 'scores'),
      ...lag(topics.created),
    ),
    row(
      0,
      span(' '),
      ...node(0, bare(topics.authorized), 'authorized'),
      ARROW,
      ...node(1, 'PATCH', 'batches'),
      ARROW,
      ...node(2, 'linked', 'linked'),
      ...lag(topics.authorized),
    ),
    row(
      0,
      span(' '),
      ...node(0, 'manual reviews', 'reviews'),
      ARROW,
      ...node(1, 'webhook', 'webhooks'),
      ARROW,
      ...node(2, bare(topics.reviews), 'published'),
    ),
    BLANK,
  ];
}

/** The last minute: payments a second above what was scored, on one scale. */
export function chartRows({ series, rate }: Scene, columns: number): readonly Row[] {
  const width = Math.min(MINUTE, Math.max(0, columns - LABEL - 9));
  const [payments, scored] = [series('created'), series('scored')];
  const most = Math.max(1, ...payments, ...scored);
  const chart = (label: string, numbers: readonly number[], of: Counted, look: Look): Line =>
    labelled(label, span(sparkline(numbers, width, most), look), span(` ${perSecond(rate(of))}`, 'strong'));
  return [
    row(4, ...chart('payments', payments, 'created', 'calm')),
    row(3, ...chart('scored', scored, 'scored', 'good')),
    row(5, ...labelled('', span('the last minute'.padStart(width), 'faint'))),
  ];
}
