import { type Step, type Tenure } from '../../src/engine/ports.ts';
import { type ScoreCarry } from '../../src/flows/scoring/flow.ts';
import { type BatchAnswer, readAnswer } from '../../src/flows/sync/answer.ts';
import { Caller } from '../../src/resilience/caller.ts';
import { type Exchange } from '../../src/resilience/ports.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { createJob, Rig } from '../unit/flows/scoring/rig.ts';

const PRINTED =
  '<!-- Printed from what the code makes of each answer; a test compares. Rewrite with: UPDATE_DOCS=1 npx vitest run test/docs -->';

const STATUSES: readonly number[] = Array.from({ length: 400 }, (_, n) => 200 + n);
const OBJECT = '{}';
const ERROR = '{"error_msg":"…"}';
const NO_OBJECT = '<html>';
const OWNED: Tenure = { epoch: 1, phase: 'owned' };

const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function answered(status: number, body: string): Exchange {
  return { do: 'answer', status, retryAfterMs: null, body: Buffer.from(body), latencyMs: 1 };
}

/** What one attempt of a payment comes to, by the flow itself. */
async function scoringOf(exchange: Exchange, maybeScored: boolean): Promise<Step<ScoreCarry>> {
  const caller = new Caller({
    api: { score: async () => await Promise.resolve(exchange) },
    concurrency: 1,
    gate: {
      room: () => 1,
      begin: () => ({ breaker: 0, floodgate: 0, beganMs: 0 }),
      end: () => 0,
      delivered: () => undefined,
    },
    clock: new ManualClock(),
  });
  const carry: ScoreCarry = { outcome: null, attempts: 1, maybeScored, unpublished: 0, suspect: null };
  return await new Rig({ caller }).flow.run({ ...createJob(OWNED), carry });
}

/** In a few words. */
async function scoring(exchange: Exchange, maybeScored = false): Promise<string> {
  const step = await scoringOf(exchange, maybeScored);
  if (step.do === 'delivered') return 'scored';
  if (step.do === 'dead_letter') return `letter ${code(step.letter.reason)}`;
  if (step.do !== 'wait') return step.do;
  const words = [`waits: ${code(step.why)}`];
  if (step.carry?.suspect !== null) words.push('counts against the payment');
  if (step.carry?.maybeScored === true && !maybeScored) words.push('may be scored');
  return words.join('; ');
}

function syncing(exchange: Exchange): string {
  const answer: BatchAnswer = readAnswer(exchange, new Set(['T1', 'T2']));
  switch (answer.do) {
    case 'accepted':
      return [
        'accepted',
        ...[...answer.rejected.keys()].map((id) => `but ${id}: letter ${code('rejected_by_service')}`),
        ...[...answer.unknown].map((part) => `event ${code('answer_unrecognised')} (${code(part)})`),
      ].join('; ');
    case 'refused':
      return `searched: letter ${code(answer.reason)} for each culprit`;
    case 'later':
      return `waits: ${code(answer.why)}${answer.trouble === null ? '' : '; smaller batches'}`;
  }
}

/** Statuses that mean the same are one row; the largest of those groups is `every other`. */
function grouped(rows: ReadonlyMap<number, readonly string[]>): readonly (readonly string[])[] {
  const groups = [...Map.groupBy(rows, ([, cells]) => cells.join('|')).values()];
  const largest = groups.toSorted((a, b) => b.length - a.length)[0];
  const line = (group: (typeof groups)[number], name: string): readonly string[] => [name].concat(group[0]?.[1] ?? []);
  return [
    ...groups.filter((group) => group !== largest).map((group) => line(group, ranges(group.map(([status]) => status)))),
    ...(largest === undefined ? [] : [line(largest, 'every other')]),
  ];
}

/** `200, 408, 505 to 599`. */
function ranges(numbers: readonly number[]): string {
  const spans: { from: number; to: number }[] = [];
  for (const number of numbers) {
    const last = spans.at(-1);
    if (last?.to === number - 1) last.to = number;
    else spans.push({ from: number, to: number });
  }
  return spans.map(({ from, to }) => (from === to ? String(from) : `${String(from)} to ${String(to)}`)).join(', ');
}

async function scoringTable(): Promise<string> {
  const rows = new Map<number, readonly string[]>();
  for (const status of STATUSES) {
    rows.set(status, [
      await scoring(answered(status, OBJECT)),
      await scoring(answered(status, OBJECT), true),
      await scoring(answered(status, ERROR)),
      await scoring(answered(status, NO_OBJECT)),
    ]);
  }
  const head = ['status', 'with an object', 'the same, after an attempt that may have been carried out'];
  return table([...head, 'with an `error_msg`', 'with no JSON object'], grouped(rows));
}

function syncTable(): string {
  const rows = new Map<number, readonly string[]>();
  for (const status of STATUSES)
    rows.set(
      status,
      [OBJECT, NO_OBJECT, ERROR].map((body) => syncing(answered(status, body))),
    );
  return table(['status', 'with an object, or nothing', 'with no JSON', 'with an `error_msg`'], grouped(rows));
}

const SILENCES: readonly (readonly [string, Exchange])[] = [
  ['the connection cannot be made', { do: 'failed', why: 'connect', ambiguous: false }],
  ['no connection in time: nothing was written', { do: 'failed', why: 'timeout', ambiguous: false }],
  ['no whole answer in time', { do: 'failed', why: 'timeout', ambiguous: true }],
  ['the connection ends before the answer is whole', { do: 'failed', why: 'reset', ambiguous: true }],
  ['the answer is no HTTP', { do: 'failed', why: 'protocol', ambiguous: true }],
  ['the answer is larger than 1 MiB', { do: 'failed', why: 'oversized', ambiguous: true }],
  ['the login finds nobody, or gets 408, 429, 5xx', { do: 'no_session', why: 'service_down', retryMs: 0 }],
  ['the login gets 401 or 403', { do: 'no_session', why: 'credentials_refused', retryMs: 0 }],
  ['the login gets anything else without a token', { do: 'no_session', why: 'service_refuses', retryMs: 0 }],
  [
    'three young tokens were refused within 10 minutes',
    { do: 'no_session', why: 'sessions_displace_each_other', retryMs: 0 },
  ],
  ['this process may not own the partition any more: nothing was written', { do: 'fenced' }],
];

async function silenceTable(): Promise<string> {
  const rows: (readonly string[])[] = [];
  for (const [what, exchange] of SILENCES) rows.push([what, await scoring(exchange), syncing(exchange)]);
  return table(['what happens', 'a payment', 'a batch of status updates'], rows);
}

const PER_ID: readonly string[] = [
  '{"T1":{"ok":true},"T2":{"status":"approved"}}',
  '{"T1":{"ok":false}}',
  '{"T1":{"error_msg":"…"}}',
  '{"T1":{"errors":[{}]}}',
  '{"T1":"no"}',
  '{"count":2}',
];

function perIdTable(): string {
  return table(
    ['body', 'the updates T1 and T2'],
    PER_ID.map((body) => [code(body), syncing(answered(200, body))]),
  );
}

/** The text of docs/faults.md. */
export async function faultsPage(): Promise<string> {
  return `${[
    '# What an answer means',
    PRINTED,
    'Look here what the connector makes of an answer of the screening service, whatever it is. What a person sees and does then: [when-things-go-wrong.md](when-things-go-wrong.md).',
    '- **Scored**: the answer is published and the record is done.\n- **Letter**: the record is at fault and goes to the dead-letter topic, with this `dlq.reason`.\n- **Waits**: nothing is wrong with the record as far as the answer tells; it is sent again, and what it waits for is this hold of [codes.md](codes.md#holds).',
    '## Answers to a payment',
    'A redirect is never followed. A 401 stands here for the second: after the first there was one login and one repeat.',
    await scoringTable(),
    '- **Counts against the payment**: after `SCORING_MAX_ATTEMPTS` (8) such answers over at least `SCORING_REFUSE_AFTER_MS` (5 minutes), in which at least 20 attempts of others ended and 95 % of them well, the payment is a letter `status_500` or `error_msg`. Without others, or while they fail alike, it waits on.\n- **May be scored**: the next attempt says `possibly_scored_before` in its score, and a refusal of it is `ambiguous_then_refused`.',
    '## No answer',
    await silenceTable(),
    '## Answers to a batch of status updates',
    syncTable(),
    '- **Searched**: the batch is halved until the culprits stand alone, in 2·k·⌈log2 n⌉ calls at most for k of n. They become letters only while the service accepts others, in the same batch or within the last minute; where it refuses everything alike, the updates wait as `service_refuses`, and one batch every 30 s is tried. A service that refuses everything from one moment on makes nine letters, then the floodgate holds. 413 makes the batches smaller first.\n- **Smaller batches**: while others are accepted, a batch that was not answered in time, or was answered so twice, travels in halves; an update that stands alone then has its answers counted as a payment has. A time-out is never counted.',
    'A 2xx whose body speaks of an update under its id:',
    perIdTable(),
    '## How long a wait is',
    'Any time between nothing and 200 ms after the first attempt, a range that doubles up to 30 s; or what `Retry-After` says (seconds or a date, 5 minutes at most) and up to a second more. A login that was refused is tried again after 30 s, doubling to 15 minutes, and at once when the file of the password changes.',
    'Calls stop altogether (breaker, one for each of the two operations) when half of at least 20 within 10 s came to `service_down`, when three in a row came to `service_refuses`, or when a login is refused or gives no token. Then one call is tried after 2 s, doubling to 8 s; after 60 s where three came to `service_refuses`. Its success lets all calls out again. Ten refusals in a row, or letters above `FLOODGATE_MAX_SHARE` (5 %) of at least 100 records in 5 minutes, close the floodgate: hold `floodgate`, one record every 30 s, until one is accepted.',
  ].join('\n\n')}\n`;
}
