import { userInfo } from 'node:os';

/** The name under which the system knows whoever started this process; `unknown` where it knows none (a container's bare number). */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
