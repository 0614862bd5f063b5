import { createRequire } from 'node:module';
import { nameOf } from '../../kernel/fault.ts';

/** Names of network errors and broker's answers are upper case with underscores; nothing else is let through. */
const STABLE = /^[A-Z][A-Z0-9_]{2,60}$/;

/**
 * What may be shown of an error of kafkajs: the class of the outermost, and the broker's or the system's own name for the
 * cause. The class alone lies: it calls lost connections not retriable.
 */
export function kafkaErrorName(error: unknown): string {
  const code = causeCode(error);
  return code === null ? nameOf(error) : `${nameOf(error)} ${code}`;
}

/** The broker's (`type`) or the system's (`code`) name for what went wrong, from the innermost cause that has one. */
export function causeCode(error: unknown): string | null {
  let found: string | null = null;
  let at: unknown = error;
  for (let depth = 0; depth < 8 && at instanceof Error; depth += 1) {
    found = stable(Reflect.get(at, 'type')) ?? stable(Reflect.get(at, 'code')) ?? found;
    at = Reflect.get(at, 'cause') ?? Reflect.get(at, 'originalError');
  }
  return found;
}

let namesByText: ReadonlyMap<string, string> | null = null;

/** The name of the broker's answer that kafkajs has this text for; null: none of its texts. */
export function brokerErrorOf(text: string): string | null {
  namesByText ??= readNames();
  return namesByText.get(text) ?? null;
}

function readNames(): ReadonlyMap<string, string> {
  try {
    const { errorCodes } = createRequire(import.meta.url)('kafkajs/src/protocol/error') as {
      readonly errorCodes: readonly { readonly type: string; readonly message: string }[];
    };
    return new Map(errorCodes.map(({ type, message }) => [message, type]));
  } catch {
    return new Map();
  }
}

function stable(value: unknown): string | null {
  return typeof value === 'string' && STABLE.test(value) ? value : null;
}
