import { HOLDS, LETTERS } from '../../../src/kernel/outcome.ts';
import { ANSWERS } from './answers.ts';
import { KAFKA, ORDER } from './kafka.ts';
import { PROCESS, WEBHOOKS } from './process.ts';
import { RECORDS, REGISTRY } from './records.ts';
import { type Question, type WrongRow, type WrongSection } from './row.ts';
import { SERVICE, SESSION } from './service.ts';

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
    '`npx fraud-connector dlq list --topic payments.created` counts them by reason, `dlq show` shows one ([dead-letters.md](dead-letters.md)): `dlq.reason`, `dlq.detail`, `dlq.service_error`, `dlq.source.offset`. One reason for all of them: a deployment, at the producer, at the service or here; the dead-letter guard stops it before many are written. Many reasons: the topic holds something else than you think. Letters keep the whole record: what is mended can be sent again with `dlq redrive`.',
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

/** What goes wrong and has no test, with the reason. */
const NOT_SHOWN: readonly (readonly [happens: string, why: string])[] = [
  [
    'The way to a neighbour is slow: 100 ms each way, 3 Mbit/s.',
    'It needs a wire between real processes: the scenario `network` of [chaos.md](chaos.md) has one, and checks that nothing is lost or out of order, and that all is through soon after.',
  ],
  [
    'The disk is full, or may not be written.',
    'The connector writes no file. The pods of the chart may write nowhere; [`test/long/deploy.test.ts`](../test/long/deploy.test.ts) checks that of them. Who keeps its output has a disk: what it prints is one line a second of each warning at most.',
  ],
  [
    'A bit of a batch has changed on the disk of a broker.',
    'The checksum is compared only where a batch cannot be read ([kafkajs.md](kafkajs.md#checksums-are-not-compared)). What does not unpack or is no JSON or Avro any more is told; a changed amount is not.',
  ],
  [
    'One address sends a flood of webhooks that nobody has signed.',
    'They are refused one by one, and their connections go first when there is no room; there is no limit by address, because behind a proxy all have the same. Set one there. Slow senders and forged webhooks in great number have tests: [`test/process/slow-senders.test.ts`](../test/process/slow-senders.test.ts), [`test/process/webhook-fuzz.test.ts`](../test/process/webhook-fuzz.test.ts).',
  ],
  [
    'Two groups read the same topics: two KAFKA_GROUP_ID, as at a change from one installation to another that runs beside it.',
    'Each does all of the work: every payment is scored twice, every status sent twice. Nothing can tell them apart from two who mean it. Stop the one, then start the other with the same KAFKA_GROUP_ID. Processes of one group may have the same KAFKA_CLIENT_ID.',
  ],
  [
    'A lag of ten million records.',
    'It takes too long for a test: `npm run bench -- lag --records 10000000`, with its figures in [performance.md](performance.md). What is in memory does not depend on the lag; the test with a heap of 64 MB has tens of thousands.',
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
    'Begin with the question you have; it leads to numbered rows below. Each row says what happens, what you see of it, what the connector does by itself and what you do, and names the tests that show it. What has no row here has no test of its own; [the last list](#not-shown-by-a-test) says of some why.',
    'Three things hold in all of them, but where a row says otherwise: no record is lost, the order of a key is kept, and no secret and nothing from a record is in a log line, a metric or on `/status`.',
    '## At three in the morning',
    ...questions,
    '## By code',
    byCode(),
    ...SECTIONS.map(textOf),
    '## Not shown by a test',
    NOT_SHOWN.map(([happens, why]) => `- ${happens} ${why}`).join('\n'),
    '## More',
    'Every code in one line: [codes.md](codes.md). Every answer of the service, by status and body: [faults.md](faults.md). Events: [events.md](events.md). Metrics: [metrics.md](metrics.md). Faults made on purpose, to try: [sandbox.md](sandbox.md), [chaos.md](chaos.md).',
  ].join('\n\n')}\n`;
}
