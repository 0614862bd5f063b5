import { FRAUD_REVIEW_SCHEMA, FRAUD_SCORE_SCHEMA } from '../../src/screening/avro.generated.ts';

export type Written = 'FraudReview' | 'FraudScore';

/** The schemas that the connector writes with, as they are today. */
export const TODAY: Readonly<Record<Written, object>> = {
  FraudReview: FRAUD_REVIEW_SCHEMA,
  FraudScore: FRAUD_SCORE_SCHEMA,
};

/** A change of a schema; `newer` is what becomes of today's. */
export interface SchemaChange {
  /** As docs/schemas.md calls it. */
  readonly name: string;
  readonly of: Written;
  readonly newer: object;
  /** Whether readers that have today's schema read what is written with the newer one: what a level FORWARD asks for. */
  readonly isReadByOlder: boolean;
  /** Whether readers that have the newer schema read what was written with today's: what a level BACKWARD asks for. */
  readonly readsOlder: boolean;
}

/** A decision that today's readers do not know. */
export const LATER_DECISION = 'escalated';

interface Field {
  readonly name: string;
  readonly type: unknown;
  readonly default?: unknown;
}

type Edit = (fields: readonly Field[], of: Written) => readonly Field[];

interface Enumeration {
  readonly symbols: readonly string[];
}

const add =
  (field: Field): Edit =>
  (fields) => [...fields, field];

const remove =
  (name: string): Edit =>
  (fields) =>
    fields.filter((field) => field.name !== name);

const edit =
  (name: string, change: (field: Field) => Field): Edit =>
  (fields) =>
    fields.map((field) => (field.name === name ? change(field) : field));

const symbols = (change: (symbols: readonly string[]) => readonly string[]): Edit =>
  edit('decision', (field) => {
    const type = field.type as Enumeration;
    return { ...field, type: { ...type, symbols: change(type.symbols) } };
  });

/** When it was done, a long without a default in both schemas. */
const TIME: Readonly<Record<Written, string>> = { FraudReview: 'received_at', FraudScore: 'scored_at' };

const retypeTime =
  (type: unknown): Edit =>
  (fields, of) =>
    edit(TIME[of], (field) => ({ ...field, type }))(fields, of);

const BOTH = { isReadByOlder: true, readsOlder: true };
const NEWER_READERS_ONLY = { isReadByOlder: false, readsOlder: true };
const OLDER_READERS_ONLY = { isReadByOlder: true, readsOlder: false };
const NEITHER = { isReadByOlder: false, readsOlder: false };

type Row = readonly [name: string, edit: Edit, verdict: Pick<SchemaChange, 'isReadByOlder' | 'readsOlder'>];

/** What may happen to a schema, and what Avro says of it (Avro 1.12 specification, Schema Resolution). */
const ROWS: readonly Row[] = [
  ['add a field with a default', add({ name: 'queue', type: 'string', default: 'none' }), BOTH],
  ['add a nullable field', add({ name: 'queue', type: ['null', 'string'], default: null }), BOTH],
  ['add a symbol to an enum that has a default', symbols((all) => [...all, LATER_DECISION]), BOTH],
  ['remove a symbol from an enum that has a default', symbols((all) => all.slice(0, -1)), BOTH],
  ['change a doc', edit('account', (field) => ({ ...field, doc: 'Said in other words.' })), BOTH],
  ['remove a field that has a default', remove('extra'), BOTH],
  ['remove a field without a default', remove('account'), NEWER_READERS_ONLY],
  ['widen a number', retypeTime('double'), NEWER_READERS_ONLY],
  ['make a text nullable', edit('account', (field) => ({ ...field, type: ['null', 'string'] })), NEWER_READERS_ONLY],
  ['add a field without a default', add({ name: 'queue', type: 'string' }), OLDER_READERS_ONLY],
  ['narrow a number', retypeTime('int'), OLDER_READERS_ONLY],
  ['rename a field without a default', edit('account', (field) => ({ ...field, name: 'merchant' })), NEITHER],
  ['make a number a text', retypeTime('string'), NEITHER],
];

export const SCHEMA_CHANGES: readonly SchemaChange[] = (['FraudReview', 'FraudScore'] as const).flatMap((of) =>
  ROWS.map(([name, change, verdict]) => ({ name, of, newer: edited(TODAY[of], of, change), ...verdict })),
);

function edited(schema: object, of: Written, ...changes: readonly Edit[]): object {
  const { fields } = schema as { readonly fields: readonly Field[] };
  return { ...schema, fields: changes.reduce((all, change) => change(all, of), fields) };
}

/** Versions that follow one another, each changed as docs/schemas.md allows; the first is today's. */
export function versionsOf(of: Written): readonly object[] {
  const versions = [TODAY[of]];
  for (const [name, change, verdict] of ROWS)
    // Of the two that add a field only one: both add the same.
    if (verdict === BOTH && name !== 'add a nullable field') versions.push(edited(versions.at(-1) ?? {}, of, change));
  return versions;
}

/** A later FraudScore: with `LATER_DECISION`. */
export function newerScore(): object {
  return edited(
    FRAUD_SCORE_SCHEMA,
    'FraudScore',
    symbols((all) => [...all, LATER_DECISION]),
  );
}

/** A later FraudReview: with `LATER_DECISION`, and with a field that readers of today have not. */
export function newerReview(): object {
  const more = symbols((all) => [...all, LATER_DECISION]);
  return edited(FRAUD_REVIEW_SCHEMA, 'FraudReview', more, add({ name: 'queue', type: 'string', default: 'none' }));
}
