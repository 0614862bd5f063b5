import { OPTION_NAMES, OPTIONS } from './options.ts';

/** A name with one of these is taken for an option of this connector. */
const PREFIXES = [
  'KAFKA_',
  'TOPIC_',
  'SCHEMA_REGISTRY_',
  'SERVICE_',
  'SCORING_',
  'SYNC_',
  'CARD_GUARD_',
  'DEAD_LETTER_',
  'BUFFER_',
  'WEBHOOK_',
  'OPS_',
] as const;
/** Common elsewhere (`COMMIT_SHA`): a name with one of these counts only if it looks like a misspelt option. */
const SHARED_PREFIXES = ['COMMIT_', 'CONFIG_', 'DRAIN_', 'MAPPING_', 'RECORD_', 'SCORE_'] as const;

/** Options that have another name now: whoever sets the old one relies on it. */
const RENAMED: Readonly<Record<string, string>> = {
  FLOODGATE_MAX_SHARE: 'DEAD_LETTER_MAX_SHARE',
  PARK_POSITIONS: 'DEAD_LETTER_OFFSETS',
};

/**
 * Names that look like TLS, SASL or proxy options and are none: set all the same they are refused, because who sets them
 * relies on them.
 */
const NOT_SUPPORTED = /^(KAFKA_(TLS|SASL)(_.*)?|(SCHEMA_REGISTRY|SERVICE|WEBHOOK)_TLS_.*|SERVICE_PROXY_.*)$/;

/** Variables that Kubernetes sets in every container for the services of its namespace. */
const SERVICE_LINK_NAME = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_LINK_VALUE = /^(tcp|udp|sctp):\/\//;

const LOOKS_LIKE = 2;

/** Whether Kubernetes has set this variable for a service; `WEBHOOK_PORT=tcp://…` is one, too. */
export function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK_NAME.test(name) || (name.endsWith('_PORT') && SERVICE_LINK_VALUE.test(value));
}

/** How many letters have to be added, left out or changed to make one text of the other (Levenshtein). */
export function editDistance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const changed = (above[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      current.push(Math.min(changed, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[other.length] ?? 0;
}

function knownNames(): readonly string[] {
  return OPTION_NAMES.flatMap((name) => (OPTIONS[name].secret ? [name, `${name}_FILE`] : [name]));
}

/** What is said about names that are no option: misspelt ones and unsupported ones are problems, others warnings. */
export interface UnknownNames {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Looks through an environment for names that were meant for this connector and are none of its options. */
export function judgeUnknownNames(env: Readonly<Record<string, string | undefined>>, strict: boolean): UnknownNames {
  const known = knownNames();
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(env).sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (value === undefined || value === '' || known.includes(name) || isServiceLink(name, value)) continue;
    const renamed = Object.hasOwn(RENAMED, name) ? RENAMED[name] : undefined;
    if (renamed !== undefined) {
      problems.push(`${name}: this option is called ${renamed} now; set that one instead.`);
      continue;
    }
    const ours = PREFIXES.some((prefix) => name.startsWith(prefix));
    if (!ours && !SHARED_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    const meant = known.find((each) => editDistance(name, each) <= LOOKS_LIKE);
    if (meant !== undefined) problems.push(`${name}: no such option; ${meant} is meant?`);
    else if (NOT_SUPPORTED.test(name))
      problems.push(`${name}: no such option; leave it out, because nothing would act on it.`);
    else if (ours && strict) problems.push(`${name}: no such option, and CONFIG_STRICT is on.`);
    else if (ours) warnings.push(`${name}: no such option; it is ignored.`);
  }
  return { problems, warnings };
}
