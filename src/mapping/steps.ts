import {
  EXPIRY_FORMS,
  type FormatTime,
  fromAlpha3,
  fromEpoch,
  fromExpiry,
  fromMinorUnits,
  TIMESTAMP_FORMS,
  toCase,
} from './convert.ts';
import { type Branch, describe, type Findings, membersOf, type Scalar, scalarOf, stringOf } from './document.ts';
import { type Find, type Scope } from './pointer.ts';
import { isNumberToken, textOf } from './tokens.ts';

/** The end of a record: a value that its helper cannot handle. Says which datapoint, never the value. */
export class Refused {
  readonly datapoint: string;

  constructor(datapoint: string) {
    this.datapoint = datapoint;
  }
}

/** Does one thing with a value that is there; undefined: nothing is left of it. */
export type Step = (value: unknown, scope: Scope) => unknown;

/** What a conversion is compiled from. */
export interface Conversion {
  readonly argument: Branch;
  /** What is beside `map`; null: not given. */
  readonly otherwise: Branch | null;
  readonly findings: Findings;
  readonly formatTime: FormatTime;
  /** The answer for a value that cannot be handled. */
  readonly refused: Refused;
  readonly compileFind: (branch: Branch) => Find | null;
}

const OTHERWISE = ['refuse', 'skip', 'pass'] as const;

/** The conversions by the name of their helper. Each compiles its argument; null with a problem. */
export const CONVERSIONS = {
  map: compileMap,
  minor_units: ({ argument, refused, compileFind }) => {
    const currency = compileFind(argument);
    return currency === null ? null : (value, scope) => fromMinorUnits(value, currency(scope)) ?? refused;
  },
  timestamp: ({ argument, findings, formatTime, refused }) => {
    const form = oneOf(TIMESTAMP_FORMS, argument, findings);
    return form === null ? null : (value) => fromEpoch(value, form, formatTime) ?? refused;
  },
  country: ({ argument, findings, refused }) =>
    oneOf(['alpha3'], argument, findings) === null ? null : (value) => fromAlpha3(value) ?? refused,
  expiry: ({ argument, findings, refused }) => {
    const form = oneOf(EXPIRY_FORMS, argument, findings);
    return form === null ? null : (value) => fromExpiry(value, form) ?? refused;
  },
} as const satisfies Record<string, (conversion: Conversion) => Step | null>;

export type ConversionName = keyof typeof CONVERSIONS;

/** Capitals or small letters, of a text only. */
export function caseStep(letters: 'upper' | 'lower', refused: Refused): Step {
  return (value) => toCase(value, letters) ?? refused;
}

/** A text, number, true or false as text, a number as it was written. */
export function textStep(refused: Refused): Step {
  return (value) => textOf(value) ?? refused;
}

/** Words by their text: a number or a truth value is looked up as it is written. */
function compileMap({ argument, otherwise, findings, refused }: Conversion): Step | null {
  const members = membersOf(argument, 'an object: from each value as it comes to what goes out', findings);
  const rest = otherwise === null ? 'refuse' : oneOf(OTHERWISE, otherwise, findings);
  if (members === null || rest === null) return null;
  if (members.length === 0) findings.refuse(argument.at, 'it is empty; give each value and what goes out for it.');
  const words = new Map<string, Scalar>();
  for (const { name, value } of members) {
    const word = scalarOf(value);
    if (word === null)
      findings.refuse(value.at, `${describe(value.node)} is not accepted; give a text, a number, true or false.`);
    else words.set(name, word);
  }
  return (value) => {
    const text = textOf(value);
    const word = text === null ? undefined : words.get(text);
    if (word !== undefined) return word;
    return rest === 'pass' ? value : rest === 'skip' ? undefined : refused;
  };
}

/** One of a closed list; null with a problem. */
export function oneOf<const C extends string>(all: readonly C[], branch: Branch, findings: Findings): C | null {
  const given = stringOf(branch);
  const known = all.find((each) => each === given) ?? null;
  if (known === null) findings.refuse(branch.at, `${describe(branch.node)} is not accepted; give ${all.join(' or ')}.`);
  return known;
}

/** Whether JSON can say a value: Avro's bytes, also inside of it, it cannot. */
export function isSendable(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || isNumberToken(value)) return true;
  if (ArrayBuffer.isView(value)) return false;
  return Object.values(value).every(isSendable);
}
