import {
  either,
  type Fields,
  fieldsDefect,
  isFlag,
  isText,
  listOf,
  mapOf,
  numberFrom,
  oneOf,
  orNull,
} from './checks.ts';
import { DATAPOINT_KINDS, type MoreDatapoint } from './datapoints.ts';
import { isJsonObject } from './json.ts';

/** What differs between accounts of the service, and may change while it runs. A reset leaves it alone. */
export interface Settings {
  /** Milliseconds; spec: at most 24 h. */
  readonly tokenLifetimeMs: number;
  /** A login ends the older token. */
  readonly oneTokenPerUser: boolean;
  /** From scoring to the decision of a review, milliseconds. */
  readonly reviewAfterMs: number;
  /** Share of transactions reviewed although their decision is not manual review, 0 to 1. */
  readonly reviewShare: number;
  /** The answer to a scoring has the fields of opt-in features. */
  readonly optInFeatures: boolean;
  /** The answer to a scoring has the hits of rules. */
  readonly ruleHits: boolean;
  /** The client is a chargeback protection customer: approved needs acq_ref_id where the payment was made by card. */
  readonly chargebackProtection: boolean;
  /** Which declined payments need a reason of the issuer. */
  readonly declineReasonRequired: 'always' | 'card' | 'never';
  /** The closed list of issuer_reason_code; null: any text. */
  readonly issuerReasonCodes: readonly string[] | null;
  /** Datapoints beyond those that the spec shows: name to kind, or to the closed set of values. */
  readonly datapoints: Readonly<Record<string, MoreDatapoint>>;
}

const DAY_MS = 86_400_000;

export const DEFAULT_SETTINGS: Settings = {
  tokenLifetimeMs: DAY_MS,
  oneTokenPerUser: false,
  reviewAfterMs: 2_000,
  reviewShare: 0,
  optInFeatures: false,
  ruleHits: false,
  chargebackProtection: false,
  declineReasonRequired: 'always',
  issuerReasonCodes: null,
  datapoints: {},
};

const FIELDS: Fields = {
  tokenLifetimeMs: numberFrom(0, DAY_MS, 'milliseconds'),
  oneTokenPerUser: isFlag,
  reviewAfterMs: numberFrom(0, DAY_MS, 'milliseconds'),
  reviewShare: numberFrom(0, 1),
  optInFeatures: isFlag,
  ruleHits: isFlag,
  chargebackProtection: isFlag,
  declineReasonRequired: oneOf(['always', 'card', 'never']),
  issuerReasonCodes: orNull(listOf(isText)),
  datapoints: mapOf(either(listOf(isText), oneOf(DATAPOINT_KINDS))),
};

/** The names of all settings. */
export const SETTING_NAMES: readonly string[] = Object.keys(FIELDS);

/** The settings if every field is known and right, else one sentence that names the field. */
export function readSettings(input: unknown): Partial<Settings> | string {
  if (!isJsonObject(input)) return 'the body must be a JSON object';
  return fieldsDefect(input, FIELDS, '', 'a setting') ?? input;
}

/** The settings in force. */
export class SettingsStore {
  #settings: Settings;
  #datapoints: ReadonlyMap<string, MoreDatapoint>;
  #reasonCodes: ReadonlySet<string> | null;

  constructor(settings: Partial<Settings>) {
    this.#settings = { ...DEFAULT_SETTINGS, ...settings };
    this.#datapoints = new Map(Object.entries(this.#settings.datapoints));
    this.#reasonCodes = toSet(this.#settings.issuerReasonCodes);
  }

  get(): Settings {
    return this.#settings;
  }

  get datapoints(): ReadonlyMap<string, MoreDatapoint> {
    return this.#datapoints;
  }

  get reasonCodes(): ReadonlySet<string> | null {
    return this.#reasonCodes;
  }

  /** Changes what is given; the rest stays. */
  set(settings: Partial<Settings>): void {
    this.#settings = { ...this.#settings, ...settings };
    this.#datapoints = new Map(Object.entries(this.#settings.datapoints));
    this.#reasonCodes = toSet(this.#settings.issuerReasonCodes);
  }
}

function toSet(codes: readonly string[] | null): ReadonlySet<string> | null {
  return codes === null ? null : new Set(codes);
}
