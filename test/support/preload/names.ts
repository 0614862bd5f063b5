/**
 * Gives a process its own book of host names: `--import …/names.ts?file=PATH`. The file holds an object of names with their
 * addresses, and is read for each question. Names below `localhost` that are not in it are not found.
 */
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

const file = new URL(import.meta.url).searchParams.get('file') ?? '';
const lookUp = dns.lookup;

type Answer = (error: NodeJS.ErrnoException | null, ...found: unknown[]) => void;

function ofTheBook(name: string, options: dns.LookupOptions, answer: Answer): void {
  const book = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>;
  const address = book[name];
  if (address === undefined) {
    answer(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND', syscall: 'getaddrinfo' }));
    return;
  }
  const family = isIP(address);
  if (options.all === true) answer(null, [{ address, family }]);
  else answer(null, address, family);
}

const patched = (name: string, options: dns.LookupOptions, answer: Answer): void => {
  if (!name.endsWith('.localhost')) Reflect.apply(lookUp, dns, [name, options, answer]);
  else
    process.nextTick(() => {
      ofTheBook(name, options, answer);
    });
};
Reflect.set(dns, 'lookup', patched);
