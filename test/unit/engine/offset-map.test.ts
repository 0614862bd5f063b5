import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clusterHashOf, createNonce, decodeMap, encodeMap, type OffsetMap } from '../../../src/engine/offset-map.ts';
import { type OffsetRange } from '../../../src/engine/tracker.ts';
import { isFault } from '../../../src/kernel/fault.ts';

const CLUSTER = clusterHashOf('bMkU3OEVBNTcwNTJENDM2Qk');
const aMap = (parts: Partial<OffsetMap> = {}): OffsetMap => ({
  clusterHash: CLUSTER,
  offset: 1234n,
  timestampMs: 1_772_357_400_000,
  nonce: 'n0nce-_x',
  ranges: [
    { from: 1, length: 3 },
    { from: 40, length: 1 },
  ],
  ...parts,
});
const textOf = (parts: Partial<OffsetMap> = {}): string => encodeMap(aMap(parts)).text;
const read = (text: string, offset = 1234n, clusterHash = CLUSTER): ReturnType<typeof decodeMap> =>
  decodeMap(text, { clusterHash, offset });

/** Rising ranges that do not touch, so that what comes back is what went in. */
const someRanges = (most = 200): fc.Arbitrary<OffsetRange[]> =>
  fc
    .tuple(
      fc.nat(3),
      fc.array(fc.tuple(fc.oneof(fc.nat(40), fc.nat(2 ** 31), fc.constant(2 ** 40)), fc.nat(70)), { maxLength: most }),
    )
    .map(([begin, pairs]) => {
      let end = begin - 1;
      return pairs.map(([length, gap]) => {
        const range = { from: end + 1 + gap, length: length + 1 };
        end = range.from + range.length;
        return range;
      });
    });

/** A map with these runs and the checksum they ought to have. */
function withRuns(runs: string): string {
  const body = `fsc1.${CLUSTER}.1234.0.n.${runs}`;
  return `${body}.${clusterHashOf(body)}`;
}

describe('a text that is no map', () => {
  test('of another cluster, or found with another offset, is one that a tool copied', () => {
    expect(read(textOf(), 1235n)).toEqual({ do: 'ignored', why: 'mirrored' });
    expect(read(textOf(), 1234n, clusterHashOf('another'))).toEqual({ do: 'ignored', why: 'mirrored' });
  });

  test('of other software is foreign', () => {
    for (const text of [` ${textOf()}`, ' ', '{}', 'AAAA', 'fsc', 'fsc.', 'fsc1', 'FSC1.', 'é'.repeat(4096), 'fscx1.'])
      expect(read(text)).toEqual({ do: 'ignored', why: 'foreign' });
  });

  test('of a later version is not guessed at', () => {
    expect(read(textOf().replace('fsc1.', 'fsc2.'))).toEqual({ do: 'ignored', why: 'future' });
    expect(read('fsc17.anything, also spaces')).toEqual({ do: 'ignored', why: 'future' });
  });

  test('is damaged when cut, lengthened, or of no version there was', () => {
    const text = textOf();
    for (const other of [text.slice(0, -1), text.slice(0, 20), `${text}A`, `${text}\n`, text.replace('fsc1.', 'fsc0.')])
      expect(read(other)).toEqual({ do: 'ignored', why: 'damaged' });
  });

  test('is damaged when a whole map follows what is none, whatever its checksum says', () => {
    const body = `fsc0.fsc1.${CLUSTER}.1234.0.n.BC`;
    expect(read(`${body}.${clusterHashOf(body)}`)).toEqual({ do: 'ignored', why: 'damaged' });
  });

  test('leads beyond the last offset only when it lies about its own', () => {
    const offset = 2n ** 63n - 10n;
    const most = textOf({ offset, ranges: [{ from: 1, length: 9 }] });
    expect(read(most, offset)).toMatchObject({ ranges: [{ from: 1, length: 9 }] });
    const more = textOf({ offset, ranges: [{ from: 1, length: 10 }] });
    expect(read(more, offset)).toEqual({ do: 'ignored', why: 'damaged' });
  });

  test('is damaged when its runs do not come in whole pairs, whatever its checksum says', () => {
    expect(read(withRuns('BC'))).toMatchObject({ do: 'map', ranges: [{ from: 1, length: 3 }] });
    for (const runs of ['B', 'BC!', 'BgggggggggggB', 'BCD', 'Bg', 'g', 'BCDgg', 'gggggggggggggB', '_____________PA'])
      expect(read(withRuns(runs))).toEqual({ do: 'ignored', why: 'damaged' });
  });

  test('is never written: a nonce or a hash that would break the text is a defect', () => {
    for (const parts of [{ nonce: '' }, { nonce: 'a.b' }, { nonce: 'é' }, { clusterHash: 'x'.repeat(33) }])
      expect(() => encodeMap(aMap(parts))).toThrow(expect.toSatisfy((error: unknown) => isFault(error, 'INTERNAL')));
    expect(() => encodeMap(aMap({ nonce: '' }))).toThrow(/cluster hash and a nonce/);
  });
});

describe('a map', () => {
  test('is absent where the metadata is empty', () => {
    expect(read('')).toEqual({ do: 'none' });
  });

  test('has this form, which other versions of the connector rely on', () => {
    expect(textOf()).toBe(`fsc1.${CLUSTER}.1234.1772357400000.n0nce-_x.BCjBA.CgnGa-`);
    expect(textOf({ timestampMs: null, ranges: [] })).toMatch(/^fsc1\.[\w-]{6}\.1234\.\.n0nce-_x\.\.[\w-]{6}$/);
  });

  test('reads as what was written', () => {
    expect(read(textOf())).toEqual({
      do: 'map',
      timestampMs: 1_772_357_400_000,
      nonce: 'n0nce-_x',
      ranges: [
        { from: 1, length: 3 },
        { from: 40, length: 1 },
      ],
    });
  });

  test('joins ranges that touch, and leaves out those that do not rise', () => {
    const ranges = [
      { from: 0, length: 2 },
      { from: 2, length: 2 },
      { from: 3, length: 5 },
      { from: 9, length: 0 },
      { from: 10, length: 1 },
    ];
    expect(read(textOf({ ranges }))).toMatchObject({
      ranges: [
        { from: 0, length: 4 },
        { from: 10, length: 1 },
      ],
    });
  });

  test("has no timestamp where the producer's is no number to rely on", () => {
    for (const timestampMs of [null, 2 ** 63, Number.NaN, 1.5])
      expect(read(textOf({ timestampMs }))).toMatchObject({ do: 'map', timestampMs: null });
    expect(read(textOf({ timestampMs: -1 }))).toMatchObject({ timestampMs: -1 });
  });

  test('of 1,800 single records among others fits', () => {
    const ranges = Array.from({ length: 1800 }, (_, at) => ({ from: 1 + at * 2, length: 1 }));
    const { complete, used } = encodeMap(aMap({ ranges }));
    expect(complete).toBe(true);
    expect(used).toBeGreaterThan(0.9);
  });

  test('of exactly the limit is complete, one character less costs its last range', () => {
    for (const ranges of [[], [{ from: 1, length: 3 }]]) {
      const { text } = encodeMap(aMap({ ranges }));
      expect(encodeMap(aMap({ ranges }), text.length)).toEqual({ text, complete: true, leftOut: 0, used: 1 });
      expect(encodeMap(aMap({ ranges }), text.length - 1)).toMatchObject({ complete: false, used: 1 });
    }
  });

  test('leaves out a range that ends where numbers are no longer exact', () => {
    const ranges = [
      { from: 1, length: 2 },
      { from: 2 ** 53 - 3, length: 7 },
    ];
    expect(read(textOf({ ranges, offset: 1234n }))).toMatchObject({ ranges: [{ from: 1, length: 2 }] });
  });

  test('is empty where not even its head fits', () => {
    expect(encodeMap(aMap(), 10)).toEqual({ text: '', complete: false, leftOut: 4, used: 1 });
  });

  test('round trip: any ranges, at any offset', () => {
    fc.assert(
      fc.property(someRanges(), fc.bigInt({ min: 0n, max: 2n ** 62n }), fc.nat(), (ranges, offset, timestampMs) => {
        const encoded = encodeMap(aMap({ ranges, offset, timestampMs }), 1e6);
        expect(encoded.complete).toBe(true);
        expect(read(encoded.text, offset)).toMatchObject({ do: 'map', timestampMs, ranges });
      }),
    );
  });

  test('stays within its limit, and what is cut off is its end', () => {
    fc.assert(
      fc.property(someRanges(), fc.integer({ min: 60, max: 700 }), (ranges, limit) => {
        const { text, complete, used } = encodeMap(aMap({ ranges }), limit);
        expect(text.length).toBeLessThanOrEqual(limit);
        expect(used).toBe(complete ? text.length / limit : 1);
        const decoded = read(text);
        if (decoded.do !== 'map') throw new Error('no map');
        expect(decoded.ranges).toEqual(ranges.slice(0, decoded.ranges.length));
        expect(decoded.ranges.length === ranges.length).toBe(complete);
      }),
    );
  });

  test('with any one character changed, added or lost is none', () => {
    const text = textOf();
    for (let at = 0; at < text.length; at += 1) {
      expect(read(text.slice(0, at) + text.slice(at + 1)).do).toBe('ignored');
      for (let code = 0; code < 300; code += 1) {
        const character = String.fromCodePoint(code);
        expect(read(`${text.slice(0, at)}${character}${text.slice(at)}`).do).toBe('ignored');
        if (character === text[at]) continue;
        expect(read(`${text.slice(0, at)}${character}${text.slice(at + 1)}`).do).toBe('ignored');
      }
    }
  });

  test('is read from no text of chance', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^fsc1\.[\w-]{6}\.1234\.\d{0,20}\.[\w-]{8}\.[\w-]*\.[\w-]{6}$/),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(read(text).do).not.toBe('map');
      }),
    );
  });
});

describe('names', () => {
  test('differ by cluster and by chance', () => {
    expect(clusterHashOf('a')).not.toBe(clusterHashOf('b'));
    expect(createNonce(() => 0)).toBe('AAAAAAAA');
    expect(createNonce(() => 0.999_999)).toBe('________');
  });

  test('rest on a checksum that others compute, too', () => {
    // CRC-32 of "123456789" is 0xCBF43926.
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const value = Array.from(clusterHashOf('123456789')).reduce((sum, digit) => sum * 64 + digits.indexOf(digit), 0);
    expect(value).toBe(0xcb_f4_39_26);
  });
});
