import { type SchemaRegistryEdge } from '../edges/schema-registry/registry.ts';
import {
  COMPATIBILITY_LEVELS,
  type CompatibilityLevel,
  isWeak,
  type Standing,
} from '../edges/schema-registry/subjects.ts';
import { registryOf } from './parts.ts';
import { readSubjects, type Subject, writtenSubjects } from './schemas.ts';
import { type CommandParts } from './topics-command.ts';

/** What `schemas register --compatibility` may be given. */
export const LEVELS: readonly CompatibilityLevel[] = COMPATIBILITY_LEVELS;

/** Says whether the schemas of a configuration are registered, or could be; 1: one is missing or does not fit. */
export async function checkSchemas(parts: CommandParts, inputs: boolean): Promise<number> {
  return await withRegistry(parts, async (registry) => {
    let exit = 0;
    for (const each of subjectsOf(parts, inputs)) {
      const finding = await findingOf(registry, each);
      parts.terminal.say(`${finding.ok ? '✓' : '✗'} ${each.subject}: ${finding.text}`);
      if (!finding.ok) exit = 1;
    }
    return exit;
  });
}

/**
 * Registers the schemas of a configuration, and sets the compatibility level of their subjects where one is given; where
 * none is and a level is weak, offers to. Throws `SCHEMA_REFUSED`, `REGISTRY_FAILED`.
 */
export async function registerSchemas(
  parts: CommandParts,
  { inputs, compatibility }: { readonly inputs: boolean; readonly compatibility: CompatibilityLevel | null },
): Promise<number> {
  return await withRegistry(parts, async (registry) => {
    for (const { subject, schema } of subjectsOf(parts, inputs)) {
      const id = await registry.register(subject, schema);
      if (compatibility !== null) await registry.setLevel(subject, compatibility);
      const set = compatibility === null ? '' : `, compatibility ${compatibility}`;
      parts.terminal.say(`✓ ${subject}: id ${String(id)}${set}`);
      const level = compatibility === null ? await registry.level(subject) : null;
      if (level !== null && isWeak(level))
        parts.terminal.say(
          `! ${subject}: compatibility ${level} takes schemas that cannot read older records; set it with: fraud-connector schemas register --compatibility FULL_TRANSITIVE`,
        );
    }
    return 0;
  });
}

function subjectsOf({ config }: CommandParts, inputs: boolean): readonly Subject[] {
  return inputs ? [...writtenSubjects(config), ...readSubjects(config)] : writtenSubjects(config);
}

async function findingOf(
  registry: SchemaRegistryEdge,
  { subject, schema }: Subject,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const found = await registry.idOf(subject, schema);
  if (found.do === 'found') return { ok: true, text: `id ${String(found.id)}` };
  return { ok: false, text: standingText(await registry.check(subject, schema)) };
}

function standingText(standing: Standing): string {
  switch (standing.do) {
    case 'new':
      return `nothing is registered; ${REGISTER}`;
    case 'fits':
      return `older ones are registered, ours fits ${askedFor(standing)}; ${REGISTER}`;
    case 'refused': {
      const version = standing.version === null ? 'the latest version' : `version ${String(standing.version)}`;
      return `${version} that is registered does not go with ours; docs/schemas.md says how to change a schema`;
    }
  }
}

const REGISTER = 'register ours with: fraud-connector schemas register';

function askedFor({ of, level }: Extract<Standing, { do: 'fits' }>): string {
  if (of !== null) return `all ${String(of)} (${String(level)})`;
  return `the latest (${level ?? 'its compatibility level could not be read'}: no more was asked)`;
}

async function withRegistry(
  { config, clock }: CommandParts,
  work: (registry: SchemaRegistryEdge) => Promise<number>,
): Promise<number> {
  const registry = registryOf(config, { clock });
  try {
    return await work(registry);
  } finally {
    await registry.close();
  }
}
