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
  unknownMethod: 'card',
  declineReasonRequired: 'always',
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
  if (update.do === 'refuse') return `dead letter ${code(update.letter.reason)}`;
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
    ['`ts` is a leap second: `2016-12-31T23:59:60Z`', { status: 'error', ts: '2016-12-31T23:59:60Z' }],
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

/** How the payment method of an update can be known: by the event, by the score, or not at all. */
const METHODS: readonly (readonly [string, Event, string | null, Partial<UpdateRules>])[] = [
  ['`card`', { pmt_method: 'card' }, 'wallet', {}],
  ['`wallet`', { pmt_method: 'wallet' }, 'card', {}],
  ['none; remembered: `card`', {}, 'card', {}],
  ['none; remembered: `wallet`', {}, 'wallet', {}],
  ['none, not remembered', {}, null, {}],
  ['none; `SYNC_UNKNOWN_METHOD=send`', {}, 'card', { unknownMethod: 'send' }],
];

function ofEachMethod(status: string, rules: Partial<UpdateRules>): readonly string[] {
  return METHODS.map(([, event, paymentMethod, more]) => {
    const scored = { httpStatus: 200, latencyMs: 41, paymentMethod };
    return shown(wire({ status, ...event }, { rules: { cardMethods: ['card'], ...rules, ...more }, scored }), []);
  });
}

/** One row for all statuses and both settings of the protection that end alike. */
function byMethod(): string {
  const cases = STATUSES.flatMap((status) =>
    [false, true].map((chargebackProtection) => ({
      status,
      protection: chargebackProtection ? 'on' : 'off',
      cells: ofEachMethod(status, { chargebackProtection }),
    })),
  );
  const alike = Map.groupBy(cases, ({ status, protection, cells }) => {
    const ofBoth = cases.filter((each) => each.status === status && String(each.cells) === String(cells)).length === 2;
    return `${ofBoth ? 'off or on' : protection} ${String(cells)}`;
  });
  const rows = [...alike].map(([key, of]) => {
    const statuses = [...new Set(of.map(({ status }) => code(status)))].join(', ');
    return row(
      statuses,
      [key.startsWith('off or on') ? 'off or on' : (of[0]?.protection ?? '')].concat(of[0]?.cells ?? []),
    );
  });
  return table(['status', 'protection', ...METHODS.map(([is]) => is)], rows);
}

function declinedWithoutReason(): string {
  const rows = (['always', 'card', 'never'] as const).map((declineReasonRequired) =>
    row(code(declineReasonRequired), ofEachMethod('declined', { declineReasonRequired })),
  );
  return table(['', ...METHODS.map(([is]) => is)], rows);
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
    'Look here for what becomes of a field, or of a whole update, before it is sent. `npx fraud-connector explain --flow sync < update.json` shows it for one of yours. A field that is null or an empty text is one that was not given. Dead letters and what to do about each are in [codes.md](codes.md#dead-letters); what is left out is counted as `fraud_connector_update_fields_dropped_total`, and the update goes out without it.',
    '## Fields, by status',
    '`trans_id`, `status` and `ts` always go out. *Read only*: looked at, never sent. *Left out*: counted.',
    fieldsByStatus(),
    '## Events that are wrong',
    broken(),
    '## Nothing but a status: by payment method and protection',
    "`SYNC_CHARGEBACK_PROTECTION` off or on; `SYNC_CARD_METHODS=card` (none listed: every method is a card). The event's own `pmt_method` decides. Without one `SYNC_UNKNOWN_METHOD` does: `card` takes the payment's method if this process has scored it, else it counts as a card. That depends on memory: after a restart and in a replay nothing is remembered, `check` warns of it. `send` ends every such update alike.",
    byMethod(),
    '`declined` without a reason, whatever the protection, by `SYNC_DECLINE_REASON_REQUIRED`:',
    declinedWithoutReason(),
    '## The reason of the issuer',
    'Of the two at most one goes out. The list of codes is the file of `SYNC_ISSUER_REASON_CODES_FILE`; whole numbers are read as their digits. With `approved_recurring` the code is left out although authentication and exemption go out: the service asks for those with an approval, which this is, but permits the code with `approved` and `declined` alone, and may refuse an update that has it elsewhere.',
    reasons(),
    '## Several exemptions',
    exemptions(),
    '## The scoring call',
    "Whole milliseconds and an HTTP status. The event's own win; where neither is known, the fields are not there.",
    calls(),
    '## Ids',
    'A `trans_id` goes out as it came, whatever it is: `__proto__`, digits only, hundreds of characters, emoji; half of a surrogate pair goes out as its escape. A whole number is sent as its digits. In `fraud.scores` half of a surrogate pair stands as U+FFFD, since Avro and Kafka keys are UTF-8. An answer that refuses one id (`ok: false`, `errors`, `error_msg` under it) makes a dead letter of that update alone.',
  ].join('\n\n')}\n`;
}
