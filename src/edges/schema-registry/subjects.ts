import { type SchemaId } from '../../engine/ports.ts';
import { Fault } from '../../kernel/fault.ts';
import { isUnknown } from './look-up.ts';
import { type RegistryAnswer, type RegistryTransport } from './transport.ts';

export type SubjectId =
  | { readonly do: 'found'; readonly id: SchemaId }
  | { readonly do: 'missing' }
  /** A stable word; never a URL or a body. */
  | { readonly do: 'unreachable'; readonly error: string };

/** The levels of Confluent's registry, which others have, too. */
export const COMPATIBILITY_LEVELS = [
  'NONE',
  'BACKWARD',
  'BACKWARD_TRANSITIVE',
  'FORWARD',
  'FORWARD_TRANSITIVE',
  'FULL',
  'FULL_TRANSITIVE',
] as const;

export type CompatibilityLevel = (typeof COMPATIBILITY_LEVELS)[number];

/** Whether a registry would take a schema that it does not hold. */
export type Standing =
  /** The subject has none yet. */
  | { readonly do: 'new' }
  /** `of`: it goes with so many versions, which are all; null: only the latest one was asked for, as the level has it. `level`: null: it cannot be read. */
  | { readonly do: 'fits'; readonly level: CompatibilityLevel | null; readonly of: number | null }
  /** The newest version that it does not go with; null: the latest one, whatever its number. */
  | { readonly do: 'refused'; readonly version: number | null };

/** What the registry holds under a subject (`<topic>-value`). */
export interface Subjects {
  /** The id under which the registry holds this very schema; registers nothing, rejects never. */
  idOf(subject: string, schema: object): Promise<SubjectId>;
  /** Holds the schema from now on; its id, the old one if it was there. Faults: SCHEMA_REFUSED, REGISTRY_FAILED. */
  register(subject: string, schema: object): Promise<SchemaId>;
  /**
   * Whether the registry would take the schema. Where the subject's level is transitive every version is asked for, as a
   * registration does; else the latest one. Faults: REGISTRY_FAILED.
   */
  check(subject: string, schema: object): Promise<Standing>;
  /** The subject's own level, or the one for all; null: the registry does not say, or not to us. Faults: REGISTRY_FAILED. */
  level(subject: string): Promise<CompatibilityLevel | null>;
  /** Sets the subject's own level. Faults: REGISTRY_FAILED. */
  setLevel(subject: string, level: CompatibilityLevel): Promise<void>;
}

/** Whether the level lets a schema in that cannot read what was written before: then a topic cannot be read from its beginning. */
export function isWeak(level: CompatibilityLevel): boolean {
  return level === 'NONE' || level === 'FORWARD' || level === 'FORWARD_TRANSITIVE';
}

/**
 * Asked without the registry's client: its `register` changes the subject's compatibility level at the first schema, and
 * its look-ups do not tell a missing schema from a missing registry.
 */
export function subjectsOf(transport: RegistryTransport): Subjects {
  return {
    idOf: async (subject, schema) => {
      const answer = await transport.request('POST', `/subjects/${encodeURIComponent(subject)}`, bodyOf(schema));
      if (answer.do === 'failed') return { do: 'unreachable', error: answer.error };
      if (isUnknown(answer)) return { do: 'missing' };
      const id = idIn(answer);
      return id === null ? { do: 'unreachable', error: wordOf(answer) } : { do: 'found', id };
    },
    register: async (subject, schema) => {
      const path = `/subjects/${encodeURIComponent(subject)}/versions`;
      const answer = await transport.request('POST', path, bodyOf(schema));
      if (isRefusal(answer)) throw refused(subject);
      const id = idIn(answer);
      if (id === null) throw failed(subject, answer);
      return id;
    },
    check: async (subject, schema) => {
      const latest = `/subjects/${encodeURIComponent(subject)}/versions/latest`;
      // Asked for itself: of a subject that is not there some registries say 404, others that all is compatible.
      if (isUnknown(await transport.request('GET', latest))) return { do: 'new' };
      const level = await levelOf(transport, subject);
      const isTransitive = level?.endsWith('_TRANSITIVE') === true;
      const versions = isTransitive ? await versionsOf(transport, subject) : [null];
      for (const version of versions.toReversed())
        if (!(await goesWith(transport, { subject, schema, version }))) return { do: 'refused', version };
      return { do: 'fits', level, of: isTransitive ? versions.length : null };
    },
    level: async (subject) => await levelOf(transport, subject),
    setLevel: async (subject, level) => {
      const answer = await transport.request('PUT', `/config/${encodeURIComponent(subject)}`, { compatibility: level });
      if (answer.do === 'failed' || answer.status !== 200) throw failed(subject, answer);
    },
  };
}

async function levelOf(transport: RegistryTransport, subject: string): Promise<CompatibilityLevel | null> {
  for (const path of [`/config/${encodeURIComponent(subject)}`, '/config']) {
    const answer = await transport.request('GET', path);
    if (answer.do === 'failed') throw failed(subject, answer);
    const said = memberOf(answer, 'compatibilityLevel') ?? memberOf(answer, 'compatibility');
    const level = COMPATIBILITY_LEVELS.find((each) => each === said);
    if (level !== undefined) return level;
  }
  return null;
}

async function versionsOf(transport: RegistryTransport, subject: string): Promise<readonly number[]> {
  const answer = await transport.request('GET', `/subjects/${encodeURIComponent(subject)}/versions`);
  const body: unknown = answer.do === 'answer' && answer.status === 200 ? answer.body : null;
  if (!Array.isArray(body) || body.length === 0 || !body.every((each) => Number.isSafeInteger(each)))
    throw failed(subject, answer);
  return body as readonly number[];
}

/** `version`: null: the latest one. */
async function goesWith(
  transport: RegistryTransport,
  { subject, schema, version }: { readonly subject: string; readonly schema: object; readonly version: number | null },
): Promise<boolean> {
  const path = `/subjects/${encodeURIComponent(subject)}/versions/${version === null ? 'latest' : String(version)}`;
  const answer = await transport.request('POST', `/compatibility${path}`, bodyOf(schema));
  if (isRefusal(answer)) return false;
  const compatible = memberOf(answer, 'is_compatible');
  if (typeof compatible !== 'boolean') throw failed(subject, answer);
  return compatible;
}

function bodyOf(schema: object): { readonly schema: string } {
  return { schema: JSON.stringify(schema) };
}

/** 409: incompatible with what the subject holds; 422: not a schema in the registry's eyes. */
function isRefusal(answer: RegistryAnswer): boolean {
  return answer.do === 'answer' && (answer.status === 409 || answer.status === 422);
}

function idIn(answer: RegistryAnswer): SchemaId | null {
  const id = memberOf(answer, 'id');
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 && id < 2 ** 31 ? id : null;
}

function memberOf(answer: RegistryAnswer, name: string): unknown {
  if (answer.do === 'failed' || answer.status !== 200) return undefined;
  const { body } = answer;
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
}

function wordOf(answer: RegistryAnswer): string {
  if (answer.do === 'failed') return answer.error;
  return answer.status === 200 ? 'not the answer of a registry' : `status ${answer.status}`;
}

function refused(subject: string): Fault {
  return new Fault('SCHEMA_REFUSED', `The registry refuses the schema for ${subject}: it is not compatible.`);
}

function failed(subject: string, answer: RegistryAnswer): Fault {
  return new Fault('REGISTRY_FAILED', `The registry did not answer for ${subject}: ${wordOf(answer)}.`);
}
