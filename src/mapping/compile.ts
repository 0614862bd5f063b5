import { type FormatTime } from './convert.ts';
import {
  type Branch,
  describe,
  entriesOf,
  type Findings,
  type Member,
  membersOf,
  parseMappingFile,
  scalarOf,
} from './document.ts';
import { type CompiledEntry, compileEntries, compileFind, evaluateAll, type KnownDatapoints } from './entry.ts';
import { type Mapped, type Mapping, type RecordMapper } from './mapper.ts';
import { type Find, type Scope } from './pointer.ts';
import { oneOf, Refused } from './steps.ts';
import { textOf } from './tokens.ts';

export type MappedFlow = keyof Mapping;

/** What a mapping has to know of the service's language. */
export interface ServiceLanguage {
  /** Datapoints and fields by flow. Others are mapped all the same, with a warning. */
  readonly known: Readonly<Record<MappedFlow, KnownDatapoints>>;
  /** What every record of a flow needs, so that a mapping without it could never send one. */
  readonly required: Readonly<Record<MappedFlow, readonly string[]>>;
  readonly formatTime: FormatTime;
}

/** A mapping that may be used, or all that is wrong with its file: one line each, with line, column and path. */
export type Compilation =
  | { readonly do: 'compiled'; readonly mapping: Mapping; readonly warnings: readonly string[] }
  | { readonly do: 'refused'; readonly problems: readonly string[] };

type Rest = 'drop' | 'pass';
type Test = (scope: Scope) => boolean;

const FLOWS: readonly MappedFlow[] = ['scoring', 'sync'];
/** Members of a flow that are no datapoints. */
const RULES: ReadonlySet<string> = new Set(['skip_when', 'rest']);

/** Checks a mapping file in full and compiles it. Never throws. */
export function compileMapping(text: string, language: ServiceLanguage): Compilation {
  const { root, findings } = parseMappingFile(text);
  if (findings.problems.length > 0) return { do: 'refused', problems: findings.problems };
  const members = membersOf(root, 'an object with scoring, sync or both', findings) ?? [];
  if (members.length === 0 && findings.problems.length === 0)
    findings.refuse(root.at, 'it is empty; give scoring, sync or both.');
  const mappers = new Map<string, RecordMapper>();
  for (const { name, at, value } of members) {
    const flow = FLOWS.find((each) => each === name);
    if (flow === undefined) findings.refuse(at, `${JSON.stringify(name)} is no flow; give scoring or sync.`);
    else {
      const mapper = compileFlow(flow, value, language, findings);
      if (mapper !== null) mappers.set(name, mapper);
    }
  }
  const { problems, warnings } = findings;
  if (problems.length > 0) return { do: 'refused', problems };
  return {
    do: 'compiled',
    mapping: { scoring: mappers.get('scoring') ?? null, sync: mappers.get('sync') ?? null },
    warnings,
  };
}

function compileFlow(
  flow: MappedFlow,
  branch: Branch,
  { known, required, formatTime }: ServiceLanguage,
  findings: Findings,
): RecordMapper | null {
  const members = membersOf(branch, 'an object: from each datapoint to where it comes from', findings);
  if (members === null) return null;
  const skips = compileSkips(
    members.find(({ name }) => name === 'skip_when'),
    findings,
  );
  const rest = members.find(({ name }) => name === 'rest');
  const howRest: Rest = rest === undefined ? 'drop' : (oneOf(['drop', 'pass'], rest.value, findings) ?? 'drop');
  const datapoints = members.filter(({ name }) => !RULES.has(name));
  const entries = compileEntries(datapoints, { known: known[flow], findings, formatTime, inside: '' });
  if (howRest === 'drop')
    for (const name of required[flow])
      if (!datapoints.some((each) => each.name === name))
        findings.refuse(branch.at, `${name} is missing, so no record could be sent; say where it comes from.`);
  return toMapper(entries, skips, howRest);
}

function toMapper(entries: readonly CompiledEntry[], skips: readonly Test[], rest: Rest): RecordMapper {
  const listed = new Set(entries.map(({ name }) => name));
  return {
    origins: new Map(entries.map(({ name, origin }) => [name, origin])),
    map: (record): Mapped => {
      const scope = { record, item: record };
      if (skips.some((applies) => applies(scope))) return { do: 'skip', rule: 'skip_when' };
      const fields = evaluateAll(entries, scope);
      if (fields instanceof Refused)
        return {
          do: 'dead_letter',
          letter: { reason: 'mapping_refused', stage: 'read', detail: fields.datapoint },
        };
      const others = rest === 'pass' ? Object.entries(record).filter(([name]) => !listed.has(name)) : [];
      // Defines, where an assignment to `__proto__` would do something else.
      return { do: 'mapped', value: Object.fromEntries([...fields, ...others]) };
    },
  };
}

/** One rule or a list of rules, of which any is enough. */
function compileSkips(member: Member | undefined, findings: Findings): readonly Test[] {
  if (member === undefined) return [];
  const rules = entriesOf(member.value) ?? [member.value];
  return rules.flatMap((rule) => compileSkip(rule, findings) ?? []);
}

const SKIP_RULE = 'an object with pointer and in, such as `{pointer: /test, in: [true]}`, or a list of those';

function compileSkip(branch: Branch, findings: Findings): Test | null {
  const members = membersOf(branch, SKIP_RULE, findings);
  if (members === null) return null;
  for (const { name, at } of members)
    if (name !== 'pointer' && name !== 'in')
      findings.refuse(at, `${JSON.stringify(name)} is not accepted; give ${SKIP_RULE}.`);
  const [pointer, values] = ['pointer', 'in'].map((wanted) => members.find(({ name }) => name === wanted));
  if (pointer === undefined || values === undefined) {
    findings.refuse(branch.at, `it is not whole; give ${SKIP_RULE}.`);
    return null;
  }
  return toTest(compileFind(pointer.value, findings), compileValues(values.value, findings));
}

function toTest(find: Find | null, values: ReadonlySet<string> | null): Test | null {
  if (find === null || values === null) return null;
  return (scope) => {
    const text = textOf(find(scope));
    return text !== null && values.has(text);
  };
}

/** Values as text: 1 and "1" are the same. */
function compileValues(branch: Branch, findings: Findings): ReadonlySet<string> | null {
  const entries = entriesOf(branch);
  if (entries === null) {
    findings.refuse(branch.at, `${describe(branch.node)} is not accepted; give a list of values, not empty.`);
    return null;
  }
  const texts = entries.map((entry) => ({ entry, text: textOf(scalarOf(entry)) }));
  for (const { entry, text } of texts)
    if (text === null)
      findings.refuse(entry.at, `${describe(entry.node)} is not accepted; give a text, a number, true or false.`);
  return new Set(texts.flatMap(({ text }) => text ?? []));
}
