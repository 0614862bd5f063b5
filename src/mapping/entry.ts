/**
 * One entry of a mapping, compiled: a pointer, or an object of helpers. The helpers of one entry work in a fixed order,
 * whatever order they are written in: the source (`from`, `first_of`), `upper` or `lower`, one conversion, `to_string`;
 * `default` stands in where all of that came to nothing.
 */
import { type FormatTime } from './convert.ts';
import {
  type Branch,
  describe,
  entriesOf,
  type Findings,
  type Member,
  membersOf,
  namesOf,
  scalarOf,
  stringOf,
  writtenOf,
} from './document.ts';
import { compilePointer, type Find, type Scope } from './pointer.ts';
import {
  caseStep,
  CONVERSIONS,
  type Conversion,
  type ConversionName,
  isSendable,
  Refused,
  type Step,
  textStep,
} from './steps.ts';

/** What an entry makes of a record: a value, undefined for none, or `Refused`. Never throws. */
export type Evaluate = (scope: Scope) => unknown;

/** Names of datapoints that the service knows; those of the entries of a list below it. */
export type KnownDatapoints = ReadonlyMap<string, KnownDatapoints | null>;

export interface EntryContext {
  /** The datapoint, with those it is inside of: `items.item_amt`. */
  readonly datapoint: string;
  /** Names known inside of it; null: it is no list of objects, or nobody knows. */
  readonly known: KnownDatapoints | null;
  readonly findings: Findings;
  readonly formatTime: FormatTime;
}

/** A datapoint and how it is made. */
export interface CompiledEntry {
  readonly name: string;
  readonly evaluate: Evaluate;
  /** Where it comes from, in the words of the file. */
  readonly origin: string;
}

const SOURCES = ['from', 'first_of', 'const'] as const;
const OTHERS = ['default', 'upper', 'lower', 'otherwise', 'to_string', 'each'] as const;
const HELPERS: readonly string[] = [...SOURCES, ...OTHERS, ...Object.keys(CONVERSIONS)];
const POINTER = 'a JSON pointer such as `/payment/id` (RFC 6901; inside of `each`, `^` before it starts at the record)';
const SCALAR = 'a text, a number, true or false';
/** What can be the name of a datapoint. */
const NAME = /^[A-Za-z]\w{0,99}$/;

type Members = ReadonlyMap<string, Member>;

/** Compiles datapoints by name; problems and unknown names go to the findings. `known` null: any name is taken. */
export function compileEntries(
  members: readonly Member[],
  context: Omit<EntryContext, 'datapoint'> & { readonly inside: string },
): readonly CompiledEntry[] {
  const { known, findings, inside } = context;
  return members.flatMap((member) => {
    const { name, at, value } = member;
    if (!NAME.test(name)) {
      findings.refuse(at, `${JSON.stringify(name)} is no name of a datapoint; give letters, digits and underscores.`);
      return [];
    }
    if (known !== null && !known.has(name))
      findings.warn(at, "the service's description does not name this datapoint.");
    const evaluate = compileEntry(value, { ...context, known: known?.get(name) ?? null, datapoint: inside + name });
    return evaluate === null ? [] : [{ name, evaluate, origin: originOf(value) }];
  });
}

/** Compiles the value of one entry; null: there is a problem. */
export function compileEntry(branch: Branch, context: EntryContext): Evaluate | null {
  const { findings } = context;
  if (stringOf(branch) !== null) return sendable(compileFind(branch, findings), context);
  const members = membersOf(branch, `${POINTER}, or an object of helpers`, findings);
  if (members === null) return null;
  const unknown = members.filter(({ name }) => !HELPERS.includes(name));
  for (const { at, name } of unknown)
    findings.refuse(at, `${JSON.stringify(name)} is no helper; give one of ${HELPERS.join(', ')}.`);
  const byName = new Map(members.map((member) => [member.name, member]));
  const source = compileSource(branch, byName, context);
  const steps = compileSteps(byName, context);
  const fallback = compileDefault(byName, findings);
  if (unknown.length > 0 || source === null || steps === null || fallback === null) return null;
  return sendable((scope) => run(source, steps, scope) ?? fallback.value, context);
}

function run(source: Evaluate, steps: readonly Step[], scope: Scope): unknown {
  let value = source(scope);
  for (const step of steps) {
    if (value === undefined || value instanceof Refused) return value;
    value = step(value, scope);
  }
  return value;
}

/** Avro's bytes have no place in JSON. */
function sendable(evaluate: Evaluate | null, { datapoint }: EntryContext): Evaluate | null {
  if (evaluate === null) return null;
  const refused = new Refused(datapoint);
  return (scope) => {
    const value = evaluate(scope);
    return value === undefined || value instanceof Refused || isSendable(value) ? value : refused;
  };
}

/** A pointer; null with a problem. */
export function compileFind(branch: Branch, findings: Findings): Find | null {
  const text = stringOf(branch);
  const find = text === null ? null : compilePointer(text);
  if (find === null) findings.refuse(branch.at, `${describe(branch.node)} is no JSON pointer; give ${POINTER}.`);
  return find;
}

function compileSource(branch: Branch, members: Members, context: EntryContext): Evaluate | null {
  const { findings } = context;
  const [source, ...more] = SOURCES.flatMap((name) => members.get(name) ?? []);
  if (source === undefined) {
    findings.refuse(branch.at, 'it says nothing of where the value comes from; give one of from, first_of, const.');
    return null;
  }
  for (const { at, name } of more)
    findings.refuse(at, `${name} and ${source.name} are two sources; give one of from, first_of, const.`);
  if (source.name === 'from') return compileFind(source.value, findings);
  if (source.name === 'first_of') return compileFirst(source, context);
  if (members.size > 1) findings.refuse(source.at, 'const stands alone; leave the other helpers out.');
  const value = scalarOf(source.value);
  if (value === null)
    findings.refuse(source.value.at, `${describe(source.value.node)} is not accepted; give ${SCALAR}.`);
  return value === null ? null : () => value;
}

function compileFirst({ value }: Member, context: EntryContext): Evaluate | null {
  const entries = entriesOf(value);
  if (entries === null) {
    context.findings.refuse(value.at, `${describe(value.node)} is not accepted; give a list of pointers or entries.`);
    return null;
  }
  const compiled = entries.map((entry) => compileEntry(entry, context));
  const ways = compiled.filter((each) => each !== null);
  if (ways.length < compiled.length) return null;
  return (scope) => {
    for (const way of ways) {
      const found = way(scope);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

function compileDefault(members: Members, findings: Findings): { readonly value: unknown } | null {
  const member = members.get('default');
  if (member === undefined) return { value: undefined };
  const value = scalarOf(member.value);
  if (value === null)
    findings.refuse(member.value.at, `${describe(member.value.node)} is not accepted; give ${SCALAR}.`);
  return value === null ? null : { value };
}

/** What is done with the value, in order; null with a problem. */
function compileSteps(members: Members, context: EntryContext): readonly Step[] | null {
  const { findings, datapoint } = context;
  const refused = new Refused(datapoint);
  const steps: (Step | null)[] = [];
  const shapes = atMostOne(['upper', 'lower'], members, findings);
  for (const { name, value } of shapes)
    steps.push(isOn(value, findings) ? caseStep(name === 'upper' ? 'upper' : 'lower', refused) : null);
  for (const member of atMostOne(['each', ...Object.keys(CONVERSIONS)], members, findings))
    steps.push(
      member.name === 'each'
        ? compileEach(member, context)
        : CONVERSIONS[member.name as ConversionName](toConversion(member, members, context, refused)),
    );
  const otherwise = members.get('otherwise');
  if (otherwise !== undefined && !members.has('map'))
    findings.refuse(otherwise.at, 'otherwise belongs to map, which is not given.');
  const text = members.get('to_string');
  if (text !== undefined) steps.push(isOn(text.value, findings) ? textStep(refused) : null);
  const good = steps.filter((step) => step !== null);
  return good.length === steps.length ? good : null;
}

function toConversion(member: Member, members: Members, context: EntryContext, refused: Refused): Conversion {
  const { findings, formatTime } = context;
  return {
    argument: member.value,
    otherwise: members.get('otherwise')?.value ?? null,
    findings,
    formatTime,
    refused,
    compileFind: (branch) => compileFind(branch, findings),
  };
}

function atMostOne(names: readonly string[], members: Members, findings: Findings): readonly Member[] {
  const given = names.flatMap((name) => members.get(name) ?? []);
  const [first, ...more] = given;
  for (const { at, name } of more)
    findings.refuse(at, `${name} cannot be together with ${first?.name ?? ''}; give one of ${names.join(', ')}.`);
  return given;
}

function isOn(value: Branch, findings: Findings): boolean {
  if (scalarOf(value) === true) return true;
  findings.refuse(value.at, `${describe(value.node)} is not accepted; give true, or leave the helper out.`);
  return false;
}

/** An array, each entry of it mapped to an object; pointers inside start at the entry. */
function compileEach({ value }: Member, context: EntryContext): Step | null {
  const { findings, known, formatTime, datapoint } = context;
  const members = membersOf(value, 'an object of datapoints', findings);
  if (members === null) return null;
  const entries = compileEntries(members, { findings, known, formatTime, inside: `${datapoint}.` });
  const refused = new Refused(datapoint);
  if (members.length === 0) findings.refuse(value.at, 'it is empty; give an object of datapoints.');
  return (list, { record }) => {
    if (!Array.isArray(list)) return refused;
    const made: unknown[] = [];
    for (const item of list as readonly unknown[]) {
      const fields = evaluateAll(entries, { record, item });
      if (fields instanceof Refused) return fields;
      made.push(Object.fromEntries(fields));
    }
    return made;
  };
}

/** The datapoints that have a value, in the order of the file; or the first refusal. */
export function evaluateAll(entries: readonly CompiledEntry[], scope: Scope): [string, unknown][] | Refused {
  const fields: [string, unknown][] = [];
  for (const { name, evaluate } of entries) {
    const value = evaluate(scope);
    if (value instanceof Refused) return value;
    if (value !== undefined) fields.push([name, value]);
  }
  return fields;
}

/** An entry in one line: its pointer, or its helpers with what they are given. */
function originOf(branch: Branch): string {
  const pointer = stringOf(branch);
  if (pointer !== null) return pointer === '' ? '(the record)' : pointer;
  return namesOf(branch)
    .map(({ name, value }) => {
      const given = writtenOf(value) ?? entriesOf(value)?.map(originOf).join(' | ') ?? '{…}';
      return name === 'from' ? given : `${name} ${given}`;
    })
    .join(', ');
}
