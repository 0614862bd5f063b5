import { time } from './figures.ts';
import { type Span, span } from './line.ts';
import { type Moment } from './moment.ts';
import { BLANK, labelled, type Row, row } from './row.ts';
import { type Scene } from './scene.ts';

type Gate = Moment['gates'][number];

/** How the service is made to be, what the gates before it do, and what waits for what. */
export function stateRows({ moment, illForMs }: Scene): readonly Row[] {
  const service =
    illForMs === null ? span('well', 'good') : span(`answers 503 for ${time(illForMs)} more: that was key b`, 'bad');
  return [
    row(1, ...labelled('service', service)),
    row(1, ...labelled('gates', ...gatesSpans(moment))),
    row(1, ...labelled('holds', ...holdSpans(moment))),
    BLANK,
  ];
}

function gatesSpans({ gates }: Moment): readonly Span[] {
  if (gates.length === 0) return [span('-')];
  return gates.flatMap((gate, index) => [span(index === 0 ? '' : '  '), ...gateSpans(gate)]);
}

function gateSpans({ flow, breaker, deadLetterGuard, pausedForMs }: Gate): readonly Span[] {
  const state = breaker.state.replaceAll('_', ' ');
  const probe = breaker.probeInMs === null ? '' : `, probe in ${time(breaker.probeInMs)}`;
  return [
    span(`${flow}: `, 'faint'),
    span(`breaker ${state}${probe}`, breaker.state === 'closed' ? 'plain' : 'bad'),
    ...(deadLetterGuard.state === 'permitting' ? [] : [span(', dead letters blocked', 'bad')]),
    ...(pausedForMs === null || pausedForMs === 0 ? [] : [span(`, asked to wait ${time(pausedForMs)}`, 'odd')]),
  ];
}

function holdSpans({ holds, connector }: Moment): readonly Span[] {
  if (connector.phase === null) return [span('not known: the connector does not answer', 'odd')];
  if (holds.length === 0) return [span('none', 'good')];
  const oldestFirst = holds.toSorted((one, other) => other.ageMs - one.ageMs);
  const byCause = [...Map.groupBy(oldestFirst, ({ cause }) => cause)];
  return byCause.flatMap(([cause, same], index) => [
    span(index === 0 ? '' : ', '),
    span(`${cause} for ${time(same[0]?.ageMs ?? 0)}`, 'bad'),
    span(` (${same.map(({ scope }) => scope).join(', ')})`),
  ]);
}
