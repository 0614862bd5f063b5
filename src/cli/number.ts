import { Fault } from '../kernel/fault.ts';

/** A parser of a command's option that takes a whole number within limits; throws `USAGE`. */
export function wholeNumber(option: string, least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new Fault('USAGE', `${option}: "${text}" is not a whole number from ${String(least)} to ${String(most)}.`);
  };
}

/** A parser of a duration such as `500ms`, `30s`, `5m`, `1h`; answers milliseconds, throws `USAGE`. */
export function duration(option: string): (text: string) => number {
  return (text) => {
    const [, digits, unit] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? [];
    const unitMs = UNITS_MS[unit ?? ''];
    if (unitMs !== undefined && Number(digits) > 0) return Number(digits) * unitMs;
    throw new Fault('USAGE', `${option}: "${text}" is not a duration such as 500ms, 30s, 5m or 1h.`);
  };
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
