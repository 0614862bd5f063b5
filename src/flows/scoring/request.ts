import { createHash } from 'node:crypto';
import { type SourceRecord } from '../../engine/ports.ts';
import { type Payment } from './read.ts';

/** Which headers a scoring request has beside those of every call. */
export interface RequestExtras {
  /** Whether the payer's address goes out as `X-Forwarded-For` (spec: POST /api/v2/transaction). */
  readonly forwardIp: boolean;
  /** The name of a header by which the service, or a proxy before it, can tell a repeat; null: none. */
  readonly idempotencyHeader: string | null;
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
const IPV6_GROUP = /^[0-9a-f]{1,4}$/i;
/** Of the longest address: eight groups, the last two written as IPv4. */
const ADDRESS_CHARACTERS = 45;

/**
 * The headers of a payment's own, name and value by turns, the same in every attempt; undefined: none. Values are
 * addresses and hexadecimal digits only, so nothing of a record can end a header or begin another.
 */
export function requestHeaders(
  record: SourceRecord,
  payment: Payment,
  { forwardIp, idempotencyHeader }: RequestExtras,
): readonly string[] | undefined {
  const address = forwardIp && payment.ip !== null && isIpAddress(payment.ip) ? payment.ip : null;
  if (address === null && idempotencyHeader === null) return undefined;
  const headers: string[] = [];
  if (address !== null) headers.push('x-forwarded-for', address);
  if (idempotencyHeader !== null) headers.push(idempotencyHeader, idempotencyKey(record, payment.transId));
  return headers;
}

/** SHA-256, as lower-case hexadecimal digits, of where the record is and what its transaction is called: another record has another. */
export function idempotencyKey({ topic, partition, offset }: SourceRecord, transId: string): string {
  // No topic's name holds a slash, and numbers have none: two different places or ids never give the same text.
  return createHash('sha256')
    .update(`${topic}/${String(partition)}/${String(offset)}/${transId}`)
    .digest('hex');
}

/** Whether a text is an IPv4 address in dotted decimal or an IPv6 address (RFC 4291, section 2.2), with nothing around it: no port, brackets, zone or prefix. */
export function isIpAddress(text: string): boolean {
  return text.length <= ADDRESS_CHARACTERS && (IPV4.test(text) || isIpv6(text));
}

function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1)?.at(-1);
  const endsAsIpv4 = last !== undefined && IPV4.test(last);
  const hex = endsAsIpv4 ? groups.flat().slice(0, -1) : groups.flat();
  if (!hex.every((group) => IPV6_GROUP.test(group))) return false;
  const count = hex.length + (endsAsIpv4 ? 2 : 0);
  return halves.length === 2 ? count <= 7 : count === 8;
}
