import { HOLDS, LETTERS } from '../../../src/kernel/outcome.ts';
import { KAFKA, ORDER } from './kafka.ts';
import { PROCESS, WEBHOOKS } from './process.ts';
import { RECORDS, REGISTRY } from './records.ts';
import { type Question, type WrongRow, type WrongSection } from './row.ts';
import { ANSWERS, SERVICE, SESSION } from './service.ts';

const PRINTED =
  '<!-- Printed from the table in test/docs/when; a test compares. Rewrite with: UPDATE_DOCS=1 npx vitest run test/docs -->';

/** All that is known to go wrong, by who is ill. A new one is a row here. */
export const SECTIONS: readonly WrongSection[] = [
  SERVICE,
  ANSWERS,
  SESSION,
  RECORDS,
  REGISTRY,
  KAFKA,
  ORDER,
  WEBHOOKS,
  PROCESS,
];

/** A row in its place on the page. */
interface PlacedRow {
  readonly number: number;
  readonly section: string;
  readonly row: WrongRow;
}

/** Every row with its number, in the order of the page. */
const ROWS: readonly PlacedRow[] = SECTIONS.flatMap(({ title, rows }) =>
  rows.map((row) => ({ section: title, row })),
).map(({ section, row }, index) => ({ number: index + 1, section, row }));

const QUESTIONS: readonly (readonly [Question, string, string])[] = [
  [
    'nothing_moves',
    'Nothing moves',
    'Open `/status` on OPS_PORT (9464): `holds` has a `cause`, its age, and what to do; [By code](#by-code) leads from the cause to its row. No hold, and no lag: nothing was written to the topics. No hold, and `not_scored_yet` among the waits: look at scoring, not at sync. A restart helps only where a row says so.',
  ],
  [
    'all_letters',
    'Everything becomes a dead letter',
    '`npx fraud-connector dlq list --topic payments.created` counts them by reason, `dlq show` shows one ([dead-letters.md](dead-letters.md)): `dlq.reason`, `dlq.detail`, `dlq.service_error`, `dlq.source.offset`. One reason for all of them: a deployment, at the producer, at the service or here; the floodgate holds before many are written. Many reasons: the topic holds something else than you think. Letters keep the whole record: what is mended can be sent again with `dlq redrive`.',
  ],
  [
    'lag_grows',
    'Lag grows',
    'With a hold: as above. Without one: see `fraud_connector_inflight_records`. At SCORING_CONCURRENCY all the time: the service is too slow for your rate, or one key has too many of the records ([performance.md](performance.md)); more processes, or a higher SCORING_CONCURRENCY if the service allows it. Far below: see `fraud_connector_waiting_records` by cause. The lag that is shown is at most ten seconds old.',
  ],
  [
    'webhook_refused',
    'A webhook is refused',
    'See the label `result` of `fraud_connector_webhook_requests_total`: the answer itself does not say why. The sender repeats for about 4.5 days, so what you mend today loses nothing. [webhooks.md](webhooks.md) has every status.',
  ],
  [
    'no_start',
    'It does not start',
    'Exit code 2: the last lines name every problem. It runs and is not ready: it waits for a neighbour, see `/status`. `npx fraud-connector check` looks at everything at once and prints the line to type.',
  ],
  [
    'twice',
    'Something was sent twice',
    'At least once is what is promised ([guarantees.md](guarantees.md)); a clean stop repeats nothing. `possibly_scored_before` marks scores that may be the second.',
  ],
];

const code = (text: string): string => `\`${text}\``;

/** As the common hosts of repositories write the anchor of a heading. */
function link(title: string): string {
  return `[${title}](#${title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Links to sections, with the numbers of rows in them. */
function leadTo(rows: readonly PlacedRow[]): string {
  return [...Map.groupBy(rows, ({ section }) => section)]
    .map(([section, found]) => `${link(section)}: ${found.map(({ number }) => String(number)).join(', ')}`)
    .join('; ');
}

function seen({ holds = [], letters = [], skips = [], events = [], faults = [], see }: WrongRow): string {
  const named = [
    ['hold', holds],
    ['letter', letters],
    ['skipped', skips],
    ['event', events],
    ['on standard error', faults],
  ] as const;
  const parts = named.flatMap(([what, codes]) =>
    codes.length === 0 ? [] : [`${what} ${codes.map((each) => code(each)).join(', ')}`],
  );
  return [...parts, ...(see === undefined ? [] : [see])].join('; ');
}

function textOf({ title }: WrongSection): string {
  const rows = ROWS.filter(({ section }) => section === title);
  const proofs = rows.map(({ number, row }) => {
    const tests = row.shown.map(([file, name]) => {
      const path = `test/${file}.test.ts`;
      return `[\`${path}\`](../${path}): *${name}*`;
    });
    return `- ${String(number)}: ${tests.join('; ')}`;
  });
  return [
    `## ${title}`,
    table(
      ['', 'what happens', 'what you see', 'what it does', 'what you do'],
      rows.map(({ number, row }) => [String(number), row.happens, seen(row), row.does, row.mend]),
    ),
    `Shown by:\n\n${proofs.join('\n')}`,
  ].join('\n\n');
}

function byCode(): string {
  const rows = [
    ...Object.keys(HOLDS).map((name) => [
      `hold ${code(name)}`,
      leadTo(ROWS.filter(({ row: { holds = [] } }) => holds.some((hold) => hold === name))),
    ]),
    ...Object.keys(LETTERS).map((name) => [
      `letter ${code(name)}`,
      leadTo(ROWS.filter(({ row: { letters = [] } }) => letters.some((letter) => letter === name))),
    ]),
  ];
  return table(['code', 'rows'], rows);
}

/** The text of docs/when-things-go-wrong.md. */
export function whenPage(): string {
  const questions = QUESTIONS.map(([question, title, advice]) =>
    [`### ${title}`, advice, `Rows: ${leadTo(ROWS.filter(({ row }) => row.answers.includes(question)))}.`].join('\n\n'),
  );
  return `${[
    '# When things go wrong',
    PRINTED,
    'Begin with the question you have; it leads to numbered rows below. Each row says what happens, what you see of it, what the connector does by itself and what you do, and names the tests that show it. What has no row here has no test of its own.',
    'Three things hold in all of them, but where a row says otherwise: no record is lost, the order of a key is kept, and no secret and nothing from a record is in a log line, a metric or on `/status`.',
    '## At three in the morning',
    ...questions,
    '## By code',
    byCode(),
    ...SECTIONS.map(textOf),
    '## More',
    'Every code in one line: [codes.md](codes.md). Every answer of the service, by status and body: [faults.md](faults.md). Events: [events.md](events.md). Metrics: [metrics.md](metrics.md). Faults made on purpose, to try: [sandbox.md](sandbox.md), [chaos.md](chaos.md).',
  ].join('\n\n')}\n`;
}
