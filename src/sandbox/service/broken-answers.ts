import { gzipSync } from 'node:zlib';
import { type Answer } from './answer.ts';
import { type Operation } from './operation.ts';

/** How an answer is made wrong. docs/sandbox.md has a row for each. */
export interface BrokenAnswerKind {
  /** What goes over the wire, in words. */
  readonly means: string;
  /** Whether the request is carried out, unless the fault says so itself. */
  readonly carriedOut: boolean;
  /** The operations it makes sense for; none: every one. */
  readonly for?: readonly Operation[];
  readonly make: (answer: Answer) => Answer;
}

const MEBI = 1024 * 1024;
const HUGE_BODY_BYTES = 20 * MEBI;
const BOMB_BYTES = 64 * MEBI;
const HUGE_HEADERS = 64;

const score: readonly Operation[] = ['score'];
const login: readonly Operation[] = ['login'];

/** The right answer with some of its fields changed; undefined: left out. */
function changed(answer: Answer, fields: Readonly<Record<string, unknown>>): Answer {
  const right = JSON.parse(answer.body.toString()) as Record<string, unknown>;
  return { ...answer, body: JSON.stringify({ ...right, ...fields }) };
}

function change(means: string, fields: Readonly<Record<string, unknown>>): BrokenAnswerKind {
  return { means, carriedOut: true, for: score, make: (answer) => changed(answer, fields) };
}

function body(means: string, make: (answer: Answer) => string | Buffer, headers = {}): BrokenAnswerKind {
  return { means, carriedOut: true, make: (answer) => ({ ...answer, body: make(answer), headers }) };
}

let bomb: Buffer | undefined;

/** The broken answers by name. */
export const BROKEN_ANSWERS = {
  right: { means: 'the right answer, for a `status` beside it', carriedOut: true, make: (answer) => answer },
  hang: {
    means: 'no answer, ever; the connection stays open',
    carriedOut: false,
    make: (answer) => ({ ...answer, wire: 'hang' }),
  },
  trickle: {
    means: 'the headers, then one space a second and no end',
    carriedOut: false,
    make: (answer) => ({ ...answer, wire: 'trickle' }),
  },
  close: {
    means: 'the connection is closed without an answer',
    carriedOut: false,
    make: (answer) => ({ ...answer, wire: 'close' }),
  },
  truncated: {
    means: 'half of the body, then the connection is closed',
    carriedOut: true,
    make: (answer) => ({ ...answer, wire: 'truncated' }),
  },
  reset_midway: {
    means: 'half of the body, then the connection is reset',
    carriedOut: true,
    make: (answer) => ({ ...answer, wire: 'reset_midway' }),
  },
  chunked: {
    means: 'the right answer in chunks, without `content-length`',
    carriedOut: true,
    make: (answer) => ({ ...answer, wire: 'chunked' }),
  },
  chunked_cut: {
    means: 'the same, and the connection is closed before the last chunk',
    carriedOut: true,
    make: (answer) => ({ ...answer, wire: 'chunked_cut' }),
  },
  length_long: {
    means: '`content-length` says 10 bytes more than come; the connection stays open',
    carriedOut: true,
    make: (answer) => ({ ...answer, declaredBytes: Buffer.byteLength(answer.body) + 10 }),
  },
  length_short: {
    means: '`content-length` says fewer bytes than come',
    carriedOut: true,
    make: (answer) => ({ ...answer, declaredBytes: Math.max(0, Buffer.byteLength(answer.body) - 10) }),
  },
  not_http: {
    means: 'bytes that are no HTTP, then the connection is closed',
    carriedOut: true,
    make: (answer) => ({ ...answer, wire: 'not_http' }),
  },
  html: body('200 with an HTML page', () => '<!doctype html><title>Gateway</title><h1>It works</h1>', {
    'content-type': 'text/html',
  }),
  empty: body('200 without a body', () => ''),
  no_content: {
    means: '204 without a body',
    carriedOut: true,
    make: (answer) => ({ ...answer, status: 204, body: '' }),
  },
  garbage: body('200 with bytes that are no text', () => Buffer.from(Array.from({ length: 64 }, (_, i) => 255 - i))),
  text: body('200 with a word that is no JSON', () => 'accepted'),
  invalid_json: body('200 with JSON that breaks off', ({ body: text }) => `${text.toString().slice(0, -1)},`),
  not_object: body('200 with `[]`', () => '[]'),
  string: body('200 with `"accepted"`', () => '"accepted"'),
  null: body('200 with `null`', () => 'null'),
  object: body('200 with `{}`', () => '{}'),
  bom: body('the right JSON behind a byte order mark', ({ body: text }) => `\uFEFF${text.toString()}`),
  wrong_type: body('the right JSON as `text/plain`', ({ body: text }) => text, { 'content-type': 'text/plain' }),
  gzip: body('the right JSON in gzip, unasked', ({ body: text }) => gzipSync(text), { 'content-encoding': 'gzip' }),
  gzip_broken: body('`content-encoding: gzip`, and none', ({ body: text }) => text, { 'content-encoding': 'gzip' }),
  gzip_bomb: body('64 KiB of gzip that hold 64 MiB', () => (bomb ??= gzipSync(Buffer.alloc(BOMB_BYTES, ' '))), {
    'content-encoding': 'gzip',
  }),
  huge_body: body('the right JSON behind 20 MiB of spaces', ({ body: text }) =>
    Buffer.concat([Buffer.alloc(HUGE_BODY_BYTES, ' '), Buffer.from(text)]),
  ),
  huge_headers: {
    means: 'the right answer with 64 KiB of headers',
    carriedOut: true,
    make: (answer) => ({
      ...answer,
      headers: {
        ...answer.headers,
        ...Object.fromEntries(
          Array.from({ length: HUGE_HEADERS }, (_, index) => [`x-padding-${index}`, 'x'.repeat(1024)]),
        ),
      },
    }),
  },
  error_msg: {
    means: '200 with an `error_msg` and nothing else',
    carriedOut: false,
    make: (answer) => ({ ...answer, status: 200, body: '{"error_msg":"a fault of the sandbox"}' }),
  },
  error_beside: {
    means: 'the right answer with an `error_msg` in it',
    carriedOut: true,
    make: (answer) => changed(answer, { error_msg: 'a fault of the sandbox' }),
  },
  token_expired: {
    means: '401, and the token of the request is over: so it expires at that very moment',
    carriedOut: false,
    for: ['score', 'sync'],
    make: (answer) => ({ ...answer, status: 401, body: '{"error_msg":"missing or invalid session token"}' }),
  },
  score_null: change('`score` is null', { score: null }),
  score_7: change('`score` is 7', { score: 7 }),
  score_negative: change('`score` is -0.5', { score: -0.5 }),
  score_text: change('`score` is `"high"`', { score: 'high' }),
  decision_9: change('`fraugster_approved` is 9', { fraugster_approved: 9 }),
  decision_text: change('`fraugster_approved` is `"1"`', { fraugster_approved: '1' }),
  decision_missing: change('there is no `fraugster_approved`', { fraugster_approved: undefined }),
  id_missing: change('there is no `frg_trans_id`', { frg_trans_id: undefined }),
  id_other: change('another `frg_trans_id` than the ledger has', { frg_trans_id: 'frg-of-another-transaction' }),
  unknown_fields: change('fields and signals that no interface shows', {
    new_field: { nested: [1] },
    evidence: { signals: [{ category: 'new', id: 'new', related_to: ['new'], type: 'new', weight: 1 }], more: true },
  }),
  token_missing: { means: '200 with `{}`', carriedOut: true, for: login, make: (a) => ({ ...a, body: '{}' }) },
  token_number: {
    means: '`sessionToken` is a number',
    carriedOut: true,
    for: login,
    make: (answer) => ({ ...answer, body: '{"sessionToken":12345}' }),
  },
  token_odd: {
    means: '`sessionToken` holds a line break, a header and letters beyond ASCII',
    carriedOut: true,
    for: login,
    make: (answer) => ({ ...answer, body: JSON.stringify({ sessionToken: 'odd\r\nx-injected: 1\r\ntökén' }) }),
  },
  // What these tokens are is told to the sessions.
  token_past: {
    means: 'a token that works, and whose `exp` is an hour ago',
    carriedOut: true,
    for: login,
    make: (a) => a,
  },
  token_opaque: { means: 'a token that works, and is no JWT', carriedOut: true, for: login, make: (a) => a },
  token_dead: { means: 'a token that every call refuses with 401', carriedOut: true, for: login, make: (a) => a },
} as const satisfies Readonly<Record<string, BrokenAnswerKind>>;

export type BrokenAnswerName = keyof typeof BROKEN_ANSWERS;

/** The row of a broken answer. */
export function brokenAnswer(name: BrokenAnswerName): BrokenAnswerKind {
  return BROKEN_ANSWERS[name];
}
