/**
 * How often the card guard takes other numbers for card numbers, and what it costs: prints the tables of
 * docs/card-guard.md. Numbers are made up from a fixed seed, so that every run says the same.
 *
 *   node test/bench/card-guard.ts [--samples 200000]
 */
import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createShops } from '../../src/sandbox/shops.ts';
import { createCardGuard } from '../../src/screening/card-guard.ts';
import { CARD_RANGES, findCardNumber } from '../../src/screening/card-guard-numbers.ts';

const { values } = parseArgs({ options: { samples: { type: 'string', default: '200000' } } });
const SAMPLES = Number(values.samples);

let state = 0x2545f491;
/** xorshift32: good enough for digits, and the same everywhere. */
function draw(): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}

const digits = (count: number): string =>
  `${String(1 + Math.floor(draw() * 9))}${Array.from({ length: count - 1 }, () => Math.floor(draw() * 10)).join('')}`;
const hex = (at: number): string => createHash('sha256').update(String(at)).digest('hex');
const iban = (): string => `DE${digits(20)}`.replaceAll(/(.{4})(?=.)/g, '$1 ');

type Make = (at: number) => string;
const MS = 1_772_357_400_123;
const KINDS: readonly (readonly [string, Make])[] = [
  ...[13, 14, 15, 16, 17, 18, 19].map((count) => [`random, ${String(count)} digits`, () => digits(count)] as const),
  ['sequence from 1000000000000000 (16 digits)', (at) => String(1_000_000_000_000_000 + at)],
  ['sequence from 4000000000000000 (16 digits)', (at) => String(4_000_000_000_000_000 + at)],
  ['time in milliseconds (13 digits)', (at) => String(MS + at * 997)],
  ['time in microseconds (16 digits)', (at) => String(MS * 1000 + at * 997)],
  ['time in nanoseconds (19 digits)', (at) => String(BigInt(MS) * 1_000_000n + BigInt(at) * 997n)],
  ['YYYYMMDDhhmmss and a counter (17 digits)', (at) => `20260301093000${String(at % 1000).padStart(3, '0')}`],
  ['snowflake (19 digits)', (at) => String((BigInt(MS - 1_288_834_974_657 + at) << 22n) + BigInt(at % 4096))],
  ['German telephone number with + (13 digits)', () => `+49151${digits(8)}`],
  ['German telephone number without + (13 digits)', () => `49151${digits(8)}`],
  ['IBAN in groups of four', () => iban()],
  ['IBAN in one piece', () => iban().replaceAll(' ', '')],
  ['SHA-256 in hexadecimal', (at) => hex(at)],
  ['UUID', (at) => hex(at).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5')],
  ['random number below 1 as JavaScript prints it', () => String(draw() + draw() / 2 ** 32)],
];

function brandOf(number: string): string {
  const prefix = Number(number.slice(0, 4));
  return CARD_RANGES.find(({ from, to }) => prefix >= from && prefix <= to)?.brand ?? 'none';
}

const percent = (share: number): string => (share === 0 ? '0' : `${(100 * share).toFixed(share < 0.001 ? 4 : 2)} %`);

console.log(`| ${String(SAMPLES)} of each | taken for a card number | by brand |\n| --- | --- | --- |`);
for (const [name, make] of KINDS) {
  const brands = new Map<string, number>();
  let taken = 0;
  for (let at = 0; at < SAMPLES; at += 1) {
    const text = make(at);
    const hit = findCardNumber(text);
    if (hit === null) continue;
    taken += 1;
    const brand = brandOf(text.slice(hit.start, hit.end).replaceAll(/\D/g, ''));
    brands.set(brand, (brands.get(brand) ?? 0) + 1);
  }
  const shares = [...brands].sort((one, other) => other[1] - one[1]);
  const told = shares.map(([brand, count]) => `${brand} ${percent(count / SAMPLES)}`).join(', ');
  console.log(`| ${name} | ${percent(taken / SAMPLES)} | ${told} |`);
}

const guard = createCardGuard([]);
const shops = createShops({ seed: 1, customers: 40 });
const payments = Array.from({ length: 2000 }, () => shops.payment(MS).created);
const bytesOf = (change: object): Buffer[] =>
  payments.map((each) => Buffer.from(JSON.stringify({ ...each, ...change })));
console.log('\n| record | bytes | microseconds |\n| --- | --- | --- |');
for (const [name, records] of [
  ['ordinary', bytesOf({ cc_num_hash: hex(1) })],
  ['with an id of 16 digits', bytesOf({ order_id: '4000000000000001' })],
] as const) {
  const bytes = records.reduce((sum, { length }) => sum + length, 0) / records.length;
  let best = Infinity;
  for (let round = 0; round < 200; round += 1) {
    const startMs = performance.now();
    for (const record of records) guard.inspect(record);
    best = Math.min(best, performance.now() - startMs);
  }
  console.log(`| ${name} | ${bytes.toFixed(0)} | ${((best * 1000) / records.length).toFixed(2)} |`);
}
