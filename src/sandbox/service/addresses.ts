import { BlockList, isIP } from 'node:net';

/** What is wrong with a text that should be one IP address; null: nothing. */
export type AddressDefect = 'malformed' | 'excess' | 'reserved' | null;

/**
 * Blocks for special use (RFC 6890) and of groups, without those for documentation (RFC 5737, RFC 3849): made-up
 * payments need addresses that belong to nobody and are yet valid.
 */
const RESERVED: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['240.0.0.0', 4, 'ipv4'],
  ['::', 127, 'ipv6'],
  ['::ffff:0:0', 96, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['100::', 64, 'ipv6'],
  ['2001::', 23, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];

/** One list each: a list takes an IPv4 address for its IPv4-mapped IPv6 address, and those are all reserved. */
const blocks = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const [address, prefix, family] of RESERVED) blocks[family].addSubnet(address, prefix, family);

/** Judges a text as the spec's datapoint `ip`: IPv4 or IPv6, nothing around it, not an address for special use. */
export function addressDefect(text: string): AddressDefect {
  const version = isIP(text);
  if (version === 0) return isIP(bare(text)) === 0 ? 'malformed' : 'excess';
  if (text.includes('%')) return 'excess';
  const family = version === 4 ? 'ipv4' : 'ipv6';
  return blocks[family].check(text, family) ? 'reserved' : null;
}

/** The address without white space, brackets, a port, a prefix length or further addresses. */
function bare(text: string): string {
  const first = text.trim().split(/[,\s/]/u, 1)[0] ?? '';
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/u.exec(first);
  if (bracketed !== null) return bracketed[1] ?? '';
  return /^[^:]*:\d+$/u.test(first) ? first.slice(0, first.indexOf(':')) : first;
}
