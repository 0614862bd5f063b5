import { type Step, type Tenure } from '../../src/engine/ports.ts';
import { type ScoreCarry } from '../../src/flows/scoring/flow.ts';
import { type BatchAnswer, type Failure, readAnswer } from '../../src/flows/sync/answer.ts';
import { isRefused, partFailed, wholeBatch } from '../../src/flows/sync/search.ts';
import { Caller } from '../../src/resilience/caller.ts';
import { Gate } from '../../src/resilience/gate.ts';
import { type Exchange } from '../../src/resilience/ports.ts';
import { buildAttribution } from '../support/attribution-builder.ts';
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

const EMIT = (): void => undefined;
const RECORD = { topic: 'payments.created', partition: 0, offset: 0n };

/** A gate whose service has just scored another payment, or none. */
function gateOf(worksForOthers: boolean, clock: ManualClock): Gate {
  const gate = new Gate({ scope: 'scoring', attribution: buildAttribution(), bucket: null, clock, emit: EMIT });
  if (!worksForOthers) return gate;
  const answer = { status: 200, afterMs: null };
  gate.end(gate.begin(0), { key: 'another', isFirst: true, record: RECORD, end: { do: 'ok' }, answer, delivered: 1 });
  return gate;
}

/** What one attempt of a payment comes to, by the flow itself. */
async function scoringOf(
  exchange: Exchange,
  { maybeScored, worksForOthers }: { readonly maybeScored: boolean; readonly worksForOthers: boolean },
): Promise<Step<ScoreCarry>> {
  const clock = new ManualClock();
  const gate = gateOf(worksForOthers, clock);
  const api = { score: async () => await Promise.resolve(exchange) };
  const caller = new Caller({ api, concurrency: 1, gate, clock });
  const carry: ScoreCarry = { outcome: null, attempts: maybeScored ? 1 : 0, maybeScored, unpublished: 0, retry: null };
  return await new Rig({ caller, gate }).flow.run({ ...createJob(OWNED), lane: 'C1', ordinal: 1_000_000, carry });
}

/** In a few words. */
async function scoring(exchange: Exchange, maybeScored = false): Promise<string> {
  const step = await scoringOf(exchange, { maybeScored, worksForOthers: true });
  if (step.do === 'delivered') return 'scored';
  if (step.do === 'skip') return `skipped ${code(step.rule)}`;
  if (step.do === 'dead_letter') return `letter ${code(reasonOf(step.letter.reason))}`;
  if (step.do !== 'wait') return step.do;
  const alike = await scoringOf(exchange, { maybeScored, worksForOthers: false });
  const causes = new Set([step.why, alike.do === 'wait' ? alike.why : step.why]);
  const words = [`waits: ${[...causes].map((cause) => code(cause)).join(' or ')}`];
  if (step.carry?.retry?.against === 1) words.push('counts');
  if (step.carry?.maybeScored === true && !maybeScored) words.push('may be scored');
  return words.join('; ');
}

/** One name for all statuses, so that statuses that mean the same are one row. */
function reasonOf(reason: string): string {
  return reason.startsWith('status_') ? 'status_<code>' : reason;
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
    case 'unsent':
      return `waits: ${code(answer.why)}`;
    case 'failed': {
      const tries = triesOf(answer);
      if (tries === null) return `waits: ${code(answer.cause)}`;
      const how = isRefused(answer) ? 'refused' : 'failed';
      const often = tries === 1 ? 'at once' : `after ${String(tries)} tries`;
      const end = answer.verdict === 'rate_limited' ? 'waits alone' : `${how}: letter ${code(reasonOf(answer.reason))}`;
      return `searched ${often}; ${end}`;
    }
  }
}

/** How often a batch is sent that fails so before it is searched, while other batches are accepted; null: it never is. */
function triesOf(failure: Failure): number | null {
  for (let tries = 1; tries < 9; tries += 1) {
    const retry = { failures: tries - 1, against: 0, sinceMs: 0, succeededBefore: 0, failedBefore: 0 };
    const member = { state: { retry, failedAt: 0, aloneAt: null } };
    const { parts } = partFailed(wholeBatch([member, member]), failure, {
      begun: 9,
      newestAccepted: 9,
      failedSince: 5,
    });
    if (parts.length > 0) return tries;
  }
  return null;
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
    '- **Scored**: the answer is published and the record is done.\n- **Letter**: the record is at fault and goes to the dead-letter topic, with this `dlq.reason`; only while the breaker is closed, one of the last 20 payments that were new was accepted, and the dead-letter guard permits it. Else it waits.\n- **Skipped**: the service knows the payment. Its score record has no decision, and this code as its `failure`.\n- **Waits**: one answer does not tell whether it is the record or the service; the record is sent again, and what it waits for is this hold of [codes.md](codes.md#holds). Of two names the first is of a service that works for others, the second of one that fails for them, too.',
    '## Answers to a payment',
    'A redirect is never followed. A 401 stands here for the second: after the first there was one login and one repeat.',
    await scoringTable(),
    "- **Counts** against the payment: after `SCORING_MAX_ATTEMPTS` (8) such answers over at least `SCORING_REFUSE_AFTER_MS` (5 minutes; 30 s while the buffer is half full), in which at least 20 other payments were tried for the first time and at most 5 % of those failed, the payment is a letter: `status_<code>`, `error_msg`, `unusable_answer`, `timed_out` or `connection_failed`. Without others, or while they fail alike, it waits on. Further payments of its key that fail are letters at once, until one succeeds. Why: [whose fault](decisions/whose-fault.md).\n- **May be scored**: the next attempt says `possibly_scored_before` in its score, and a 400 or 422 to it is `ambiguous_then_refused`.\n- A 409 spends a part of the dead-letter guard's budget, unless an attempt of this process may have been carried out, or the payment is among the first 1,000 records after an assignment.",
    '## No answer',
    await silenceTable(),
    '## Answers to a batch of status updates',
    syncTable(),
    "- **Searched**: the batch is halved until the culprits stand alone, in 2·k·⌈log2 n⌉ calls at most for k of n. The number of tries is that of the update that has failed most often; 401, 429 and 502 to 504 are searched after eight where no other update is accepted meanwhile. A culprit goes alone from then on; such updates take a quarter of `SYNC_BATCHES_IN_FLIGHT` at most. 413 makes the batches smaller first. 429 with `Retry-After` is never searched.\n- **Refused**: the culprit is a letter when it is refused alone again after another update was accepted. Such letters spend the dead-letter guard's budget.\n- **Failed**: the culprit is tried alone until it is proven to be at fault as a payment is: `SCORING_MAX_ATTEMPTS` failures over `SCORING_REFUSE_AFTER_MS`, while at most 5 % of what else was tried failed; each accepted update counts, and a batch that fails counts as one.\n- A search that finds ten culprits, or ten parts that time out, while nothing is accepted opens the breaker: no letter, and its probe is one update.",
    'A 2xx whose body speaks of an update under its id:',
    perIdTable(),
    '## How long a wait is',
    'A payment, or an update that goes alone: 200 ms after the first attempt, doubled up to a minute, half of it by chance; at least what `Retry-After` says (seconds or a date, 5 minutes at most) and up to a second more, with 429 exactly that. Repeats take at most a quarter of the slots while payments wait that were not tried yet. Updates that failed in one batch wait 2 s at most while others are accepted; updates that wait for the service 8 s at most. A login that was refused is tried again after 30 s, doubling to 15 minutes, and at once when the file of the password changes.',
    "Calls stop altogether (breaker, one for each of the two operations) when first attempts for 20 keys in a row have failed or were refused (of 20 batches; an accepted part of one begins the count anew), or when a login is refused or gives no token. Then one record that was not tried yet is sent after 2 s, 4 s and every 8 s. Its success lets all calls out again; so does the lack of such a record, because each record's own wait is limit enough. Dead letters that a single answer decides spend a budget: 40 may follow one another (20 after a start), and each success earns share ÷ (1 − share), `DEAD_LETTER_MAX_SHARE` (5 %). With the budget spent, nothing becomes a dead letter for 5 minutes: hold `dead_letter_guard`; records it concerns are tried again, other records go on.",
  ].join('\n\n')}\n`;
}
