import { time, whole } from './figures.ts';
import { paint, type Span, span } from './line.ts';
import { BLANK, labelled, type Row, row } from './row.ts';
import { type Scene } from './scene.ts';
import { factRows } from './view-facts.ts';
import { chartRows, flowRows } from './view-flow.ts';
import { stateRows } from './view-state.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Wider is not easier to read. */
const MOST_COLUMNS = 110;
/** What happened last, where there is room for that. */
const MOST_NEWS = 4;

/** The picture as lines that fit `size`; where it is too small, what matters least is left out and lines are cut. */
export function view(scene: Scene, size: Size, colour: boolean): readonly string[] {
  const columns = Math.max(0, Math.min(size.columns, MOST_COLUMNS));
  const rows = [
    ...header(scene),
    ...flowRows(scene, columns),
    ...chartRows(scene, columns),
    ...factRows(scene, columns),
    ...stateRows(scene),
    ...foot(scene),
  ];
  while (rows.length > Math.max(1, size.rows)) {
    const spare = Math.max(...rows.map((each) => each.spare));
    rows.splice(
      rows.findLastIndex((each) => each.spare === spare),
      1,
    );
  }
  return rows.map(({ line }) => paint(line, columns, colour));
}

function header({ forMs, leftMs, act, moment, last }: Scene): readonly Row[] {
  const { pid, kills, phase } = moment.connector;
  const left = leftMs === null || act !== 'open' ? '' : `, ${time(leftMs)} to go`;
  const acts = { open: 'shops are open', waiting: 'shops are closed, waiting for the rest', stopping: 'stopping' };
  const state: Span =
    pid === null
      ? span('not running', 'bad')
      : phase === null
        ? span('starting', 'odd')
        : span(phase, phase === 'running' ? 'good' : 'odd');
  return [
    row(
      0,
      span(' fraud-screening-connector', 'strong'),
      span(' at work: a demo   '),
      span(`${time(forMs)}${left}   ${last ? 'ended' : acts[act]}`, 'faint'),
    ),
    row(
      1,
      ...labelled(
        'connector',
        state,
        span(pid === null ? '' : `, process ${String(pid)}`),
        span(`, killed ${whole(kills)} ${kills === 1 ? 'time' : 'times'}`, kills > 0 ? 'odd' : 'plain'),
      ),
    ),
    BLANK,
  ];
}

function foot({ places, news, last }: Scene): readonly Row[] {
  const { topics, statusUrl, ledgerUrl, activityUrl, kafka, registryUrl, logFile } = places;
  const told = news.slice(-MOST_NEWS);
  return [
    row(6, ...labelled('status', span(statusUrl))),
    row(6, ...labelled('service', span(ledgerUrl), span(` and ${activityUrl.slice(ledgerUrl.lastIndexOf('/'))}`))),
    row(
      7,
      ...labelled(
        'kafka',
        span(kafka),
        span(`  registry ${registryUrl}`),
        ...(topics.prefix === '' ? [] : [span(`  topics ${topics.prefix}*`)]),
      ),
    ),
    row(8, ...labelled('log', span(logFile))),
    ...told.map((line, index) => row(index === told.length - 1 ? 4 : 10, span(` ▶ ${line}`, 'odd'))),
    ...(last
      ? []
      : [
          row(
            0,
            ...key('q'),
            span(' end   '),
            ...key('k'),
            span(' kill -9 the connector   '),
            ...key('b'),
            span(' service ill for 10 s   '),
            ...key('p'),
            span(' poison record'),
          ),
        ]),
  ];
}

function key(name: string): readonly Span[] {
  return [span(' '), span(name, 'strong')];
}
