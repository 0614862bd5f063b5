/**
 * The table of faults: everything that stops the connector or one of its commands. `exit` is the process's exit code:
 * 1 failed, 2 wrong usage or configuration.
 */
export const FAULTS = {
  CONFIG_INVALID: {
    exit: 2,
    means: 'One or more options are missing or wrong.',
    mend: 'Mend each line of the message and start again.',
  },
  USAGE: { exit: 2, means: 'The command line is wrong.', mend: 'See `fraud-connector <command> --help`.' },
  TOPIC_MISSING: {
    exit: 2,
    means: 'A topic that is read or written does not exist.',
    mend: 'Run `fraud-connector topics create`, or create it your way.',
  },
  SCHEMA_MISSING: {
    exit: 2,
    means: 'The registry does not hold a schema this connector writes.',
    mend: 'Run `fraud-connector schemas register`.',
  },
  SCHEMA_REFUSED: {
    exit: 2,
    means: 'The registry refused a schema as incompatible.',
    mend: 'Compare it with the one registered; docs/schemas.md says how to change one.',
  },
  KAFKA_FAILED: {
    exit: 1,
    means: 'Kafka did not do what a command asked for.',
    mend: 'Look at the brokers and try again.',
  },
  REGISTRY_FAILED: {
    exit: 1,
    means: 'The registry did not do what a command asked for.',
    mend: 'Look at the registry and try again.',
  },
  PORT_TAKEN: { exit: 2, means: 'A port to listen on is taken or not allowed.', mend: 'Choose another port.' },
  NO_BROKER: {
    exit: 1,
    means: 'There is no Kafka to use and no way to start one here.',
    mend: 'Give KAFKA_BROKERS and SCHEMA_REGISTRY_URL, or install Docker, or Java 21 and Maven.',
  },
  DOWNLOAD_FAILED: {
    exit: 1,
    means: 'Kafka or the registry could not be downloaded.',
    mend: 'Check the network and the settings of Maven, and try again.',
  },
  CHILD_FAILED: {
    exit: 1,
    means: 'A program started by this one ended or did not become ready.',
    mend: 'The last lines it printed are in the message.',
  },
  DRAIN_INCOMPLETE: {
    exit: 1,
    means: 'Not everything in flight ended in time at shutdown; it is repeated at the next start.',
    mend: 'Raise DRAIN_TIMEOUT_MS if it happens often.',
  },
  METADATA_TOO_LARGE: {
    exit: 1,
    means: 'The brokers take less metadata with a commit than an offset map needs.',
    mend: 'Nothing: smaller maps are written; set offset.metadata.max.bytes to 4096 for whole ones.',
  },
  INDEX_FULL: {
    exit: 2,
    means: 'A range holds more transactions, or more letters, than a replay or redrive keeps in mind.',
    mend: 'Take it in parts, one after the other: --from and --to.',
  },
  INTERNAL: { exit: 1, means: 'Something happened that the code excludes.', mend: 'Report it.' },
} as const satisfies Record<string, { exit: 1 | 2; means: string; mend: string }>;

export type FaultCode = keyof typeof FAULTS;

/** The one error class: a code of the table, and a message that names what, where and how to mend it; never a secret, never a record's data. */
export class Fault extends Error {
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'Fault';
    this.code = code;
  }

  get exit(): 1 | 2 {
    return FAULTS[this.code].exit;
  }
}

export function isFault(error: unknown, code?: FaultCode): error is Fault {
  return error instanceof Fault && (code === undefined || error.code === code);
}

/** What may be shown of an unknown error: its name and code, never its message, which may hold data. */
export function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code: unknown = 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? `${error.name} ${code}` : error.name;
}
