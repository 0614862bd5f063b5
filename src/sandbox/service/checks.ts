import { isJsonObject } from './json.ts';

/** Judges a value that came from outside: one sentence that begins with the field's name and holds no data, or null. */
export type Check = (value: unknown, path: string) => string | null;

/** What is an object for a check: its fields by name. */
export type Fields = Readonly<Record<string, Check>>;

const rule =
  (accepts: (value: unknown) => boolean, must: string): Check =>
  (value, path) =>
    accepts(value) ? null : `${path} must ${must}`;

/** A number within limits, both included; `unit` is for the sentence. */
export function numberFrom(least: number, most: number, unit = 'a number'): Check {
  return rule(
    (value) => typeof value === 'number' && value >= least && value <= most,
    `be ${unit} from ${least} to ${most}`,
  );
}

/** A whole number within limits, both included. */
export function wholeFrom(least: number, most: number, unit = 'a whole number'): Check {
  return rule(
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
    `be ${unit} from ${least} to ${most}`,
  );
}

/** True or false. */
export const isFlag: Check = rule((value) => typeof value === 'boolean', 'be true or false');

/** A text that is not empty. */
export const isText: Check = rule((value) => typeof value === 'string' && value !== '', 'be a text');

/** Printable ASCII: what may stand in a header. */
export const isHeaderText: Check = rule(
  (value) => typeof value === 'string' && /^[\x20-\x7e]*$/u.test(value),
  'be a text of printable ASCII',
);

/** One of a closed list of texts. */
export function oneOf(values: readonly string[]): Check {
  return rule((value) => typeof value === 'string' && values.includes(value), `be one of ${values.join(', ')}`);
}

/** What one of two checks accepts; the sentence is the last one's. */
export function either(one: Check, other: Check): Check {
  return (value, path) => (one(value, path) === null ? null : other(value, path));
}

/** Null, or what the check accepts. */
export function orNull(check: Check): Check {
  return (value, path) => {
    const defect = value === null ? null : check(value, path);
    return defect === null ? null : `${defect}, or null`;
  };
}

/** A list whose entries the check accepts. */
export function listOf(check: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} must be a list`;
    for (const [index, entry] of value.entries()) {
      const defect = check(entry, `${path}[${index}]`);
      if (defect !== null) return defect;
    }
    return null;
  };
}

/** An object with these fields and no others; `required` ones must be there. */
export function objectOf(fields: Fields, required: readonly string[] = []): Check {
  return (value, path) => {
    if (!isJsonObject(value)) return `${path} must be an object`;
    const missing = required.find((name) => !Object.hasOwn(value, name));
    return missing === undefined ? fieldsDefect(value, fields, `${path}.`) : `${path}.${missing} must be given`;
  };
}

/** An object with any names, whose values the check accepts. */
export function mapOf(check: Check): Check {
  return (value, path) => {
    if (!isJsonObject(value)) return `${path} must be an object`;
    return fieldsDefect(value, Object.fromEntries(Object.keys(value).map((name) => [name, check])), `${path}.`);
  };
}

/** The first thing wrong with the fields of an object, or null. `what`: what its names are. */
export function fieldsDefect(value: object, fields: Fields, prefix = '', what = 'a field'): string | null {
  for (const [name, content] of Object.entries(value)) {
    const check = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (check === undefined) {
      return `${JSON.stringify(prefix + name)} is not ${what}; known are ${Object.keys(fields).join(', ')}`;
    }
    const defect = check(content, prefix + name);
    if (defect !== null) return defect;
  }
  return null;
}
