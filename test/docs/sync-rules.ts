import { toWireUpdate, type UpdateRules, type WireUpdate } from '../../src/screening/status-update.ts';

const PRINTED =
  '<!-- Printed from what the rules in src/screening/status-update.ts do; a test compares. Rewrite with: UPDATE_DOCS=1 npx vitest run test/docs -->';

const STATUSES = [
  'approved',
  'approved_recurring',
  'declined',
  'declined_fraudscreening',
  'error',
  'frg_declined',
  'payment_pending',
];
const TS = '2026-03-01T09:30:00Z';
const NO_RULES: UpdateRules = {
  chargebackProtection: false,
  cardMethods: [],
  reasonCodes: null,
  exemptionAsArray: false,
};

type Event = Readonly<Record<string, unknown>>;

interface Case {
  readonly rules?: Partial<UpdateRules>;
  readonly scored?: { readonly httpStatus: number; readonly latencyMs: number; readonly paymentMethod: string | null };
}

function wire(event: Event, { rules = {}, scored }: Case = {}): WireUpdate {
  return toWireUpdate({ trans_id: 't', ts: TS, ...event }, { ...NO_RULES, ...rules, scored: scored ?? null });
}

/** What goes out under a name; null: nothing. */
function sentAs(update: WireUpdate, name: string): unknown {
  return update.do === 'send' ? (update.fields.find(([field]) => field === name)?.[1] ?? null) : null;
}

/** A row: what it is of, then its cells. */
function row(first: string, cells: readonly string[]): readonly string[] {
  return [first].concat(cells);
}

const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The end of an update in a few words, `names` being the fields that matter. */
function shown(update: WireUpdate, names: readonly string[]): string {
  if (update.do === 'refuse') return `letter ${code(update.letter.reason)}`;
  const sent = names.flatMap((name) => {
    const value = sentAs(update, name);
    return value === null ? [] : [`${code(name)}: ${code(JSON.stringify(value))}`];
  });
  const counted = [
    ...update.dropped.map((field) => `${code(field)} left out, counted`),
    ...update.notes.map((note) => `counted as ${code(note)}`),
  ];
  return [...(sent.length === 0 ? ['sent'] : sent), ...counted].join('; ');
}

/** A good event of a status, so that one thing can be added to it. */
function good(status: string): Event {
  return {
    status,
    ...(status === 'approved' ? { acq_ref_id: 'arn' } : {}),
    ...(status === 'declined' ? { issuer_decline_reason: 'no funds' } : {}),
  };
}

const OPTIONAL: readonly (readonly [name: string, value: unknown])[] = [
  ['acq_ref_id', 'arn'],
  ['issuer_reason_code', '51'],
  ['issuer_decline_reason', 'no funds'],
  ['authentication_status', 'unable'],
  ['exemption_type_raised', 'low_value'],
  ['http_status_code', 200],
  ['latency', 41],
  ['pmt_method', 'card'],
  ['extra', { a: 1 }],
  ['anything_else', 'x'],
];

/** What becomes of one field of a good event. */
function fate(name: string, value: unknown, status: string): string {
  const event = status === 'declined' && name === 'issuer_reason_code' ? { status } : good(status);
  const update = wire({ ...event, [name]: value });
  if (sentAs(update, name) !== null) return 'sent';
  return update.do === 'send' && update.dropped.length === 0 ? 'read only' : 'left out';
}

function fieldsByStatus(): string {
  const rows = OPTIONAL.map(([name, value]) =>
    row(
      code(name),
      STATUSES.map((status) => fate(name, value, status)),
    ),
  );
  return table(['field', ...STATUSES.map(code)], rows);
}

function broken(): string {
  const cases: readonly (readonly [string, Event])[] = [
    ['no `status`', {}],
    ['`status` is `"Approved"`, or any that is none of the seven', { status: 'Approved' }],
    ['no `ts`', { status: 'error', ts: null }],
    ['`ts` has no zone: `2026-03-01T09:30:00`', { status: 'error', ts: '2026-03-01T09:30:00' }],
    ['`ts` is a number', { status: 'error', ts: 1_772_357_400 }],
    ['`ts` is `2026-03-01T09:30:00.987Z`', { status: 'error', ts: '2026-03-01T09:30:00.987Z' }],
    ['`ts` is `2026-03-01T09:30:00+02:00`', { status: 'error', ts: '2026-03-01T09:30:00+02:00' }],
    ['`declined`, with neither reason', { status: 'declined' }],
    ['`authentication_status` is none of the five', { ...good('approved'), authentication_status: 'yes' }],
    ['`latency` is a text', { ...good('approved'), latency: '41' }],
    ['`http_status_code` is 42', { ...good('approved'), http_status_code: 42 }],
  ];
  return table(
    ['event', 'becomes'],
    cases.map(([is, event]) => [is, shown(wire(event), ['ts'])]),
  );
}

function approvedWithoutReference(): string {
  const card: Partial<UpdateRules> = { chargebackProtection: true, cardMethods: ['card'] };
  const settings: readonly (readonly [string, Partial<UpdateRules>])[] = [
    ['off', {}],
    ['on, no card methods listed', { chargebackProtection: true }],
    ['on, `card` is listed', card],
  ];
  const methods: readonly (readonly [string, Event, string | null])[] = [
    ["the event's: `card`", { pmt_method: 'card' }, 'wallet'],
    ["the event's: `wallet`", { pmt_method: 'wallet' }, 'card'],
    ["the score's: `card`", {}, 'card'],
    ["the score's: `wallet`", {}, 'wallet'],
    ['unknown', {}, null],
  ];
  return table(
    ['`SYNC_CHARGEBACK_PROTECTION`', ...methods.map(([is]) => is)],
    settings.map(([is, rules]) =>
      row(
        is,
        methods.map(([, event, paymentMethod]) => {
          const scored = { httpStatus: 200, latencyMs: 41, paymentMethod };
          return shown(wire({ status: 'approved', ...event }, { rules, scored }), []);
        }),
      ),
    ),
  );
}

function reasons(): string {
  const listed = { reasonCodes: new Set(['51']) };
  const both = { issuer_reason_code: '99', issuer_decline_reason: 'no funds' };
  const cases: readonly (readonly [string, string, Partial<UpdateRules>, Event])[] = [
    ['none', 'the code', {}, { issuer_reason_code: '99' }],
    ['none', 'the text', {}, { issuer_decline_reason: 'no funds' }],
    ['none', 'both', {}, both],
    ['has the code', 'both', listed, { ...both, issuer_reason_code: '51' }],
    ['has it not', 'both', listed, both],
    ['has it not', 'the code', listed, { issuer_reason_code: '99' }],
    ['any', 'neither', listed, {}],
  ];
  const names = ['issuer_reason_code', 'issuer_decline_reason'];
  return table(
    ['list of codes', 'given', '`declined`', '`approved`', 'every other status'],
    cases.map(([list, given, rules, event]) => [
      list,
      given,
      shown(wire({ status: 'declined', ...event }, { rules }), names),
      shown(wire({ status: 'approved', acq_ref_id: 'arn', ...event }, { rules }), names),
      shown(wire({ status: 'error', ...event }, { rules }), names),
    ]),
  );
}

function exemptions(): string {
  const cases: readonly unknown[] = [
    'low_value',
    ['low_value'],
    ['low_risk', 'low_value'],
    ['new', 'low_value'],
    ['new'],
  ];
  const names = ['exemption_type_raised'];
  return table(
    ['given', '`SYNC_EXEMPTION_AS_ARRAY=false`', '`SYNC_EXEMPTION_AS_ARRAY=true`'],
    cases.map((value) =>
      row(
        code(JSON.stringify(value)),
        [false, true].map((exemptionAsArray) =>
          shown(wire({ ...good('approved'), exemption_type_raised: value }, { rules: { exemptionAsArray } }), names),
        ),
      ),
    ),
  );
}

function calls(): string {
  const scored = { httpStatus: 200, latencyMs: 41.6, paymentMethod: null };
  const cases: readonly (readonly [string, Event])[] = [
    ['neither', {}],
    ['`http_status_code` 201, `latency` 12.4', { http_status_code: 201, latency: 12.4 }],
  ];
  const names = ['http_status_code', 'latency'];
  return table(
    ['the event has', 'scored here in 41.6 ms', 'not scored here'],
    cases.map(([is, own]) => [
      is,
      shown(wire({ ...good('approved'), ...own }, { scored }), names),
      shown(wire({ ...good('approved'), ...own }), names),
    ]),
  );
}

/** docs/sync-rules.md, as the rules are. */
export function syncRulesPage(): string {
  return `${[
    '# What goes out of a status update',
    PRINTED,
    'Look here for what becomes of a field, or of a whole update, before it is sent. `npx fraud-connector explain --flow sync < update.json` shows it for one of yours. A field that is null or an empty text is one that was not given. Letters and their mending are in [codes.md](codes.md#dead-letters); what is left out is counted as `fraud_connector_update_fields_dropped_total`, and the update goes out without it.',
    '## Fields, by status',
    '`trans_id`, `status` and `ts` always go out. *Read only*: looked at, never sent. *Left out*: counted.',
    fieldsByStatus(),
    '## Events that are wrong',
    broken(),
    '## `approved` without `acq_ref_id`',
    "`SYNC_CARD_METHODS` lists the values of `pmt_method` that are cards. The event's `pmt_method` decides; without one, that of the payment, if it was scored in this process.",
    approvedWithoutReference(),
    '## The reason of the issuer',
    'Of the two at most one goes out. The list of codes is the file of `SYNC_ISSUER_REASON_CODES_FILE`; whole numbers are read as their digits.',
    reasons(),
    '## Several exemptions',
    exemptions(),
    '## The scoring call',
    "Whole milliseconds and an HTTP status. The event's own win; where neither is known, the fields are not there.",
    calls(),
    '## Ids',
    'A `trans_id` goes out as it came, whatever it is: `__proto__`, digits only, hundreds of characters, emoji; half of a surrogate pair goes out as its escape. A whole number is sent as its digits. In `fraud.scores` half of a surrogate pair stands as U+FFFD, since Avro and Kafka keys are UTF-8. An answer that refuses one id (`ok: false`, `errors`, `error_msg` under it) makes a letter of that update alone.',
  ].join('\n\n')}\n`;
}
