import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTraceContext, toTraceHeaders, withTraceparent } from '../../../src/kernel/trace-context.ts';

const IDS = '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331';
const PARENT = `00-${IDS}-01`;

describe('no trace is read from', () => {
  test.each([
    ['nothing', undefined],
    ['an empty text', ''],
    ['words', 'card 4111'],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
    ['a parent id of zeros', `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`],
    ['version ff', `ff-${IDS}-01`],
    ['upper case', PARENT.toUpperCase()],
    ['more than version 00 has', `${PARENT}-x`],
    ['more without a dash, in a later version', `01-${IDS}-01x`],
    ['less than a later version must have', `01-${IDS}`],
    ['spaces around it', ` ${PARENT}`],
    ['a line after it', `${PARENT}\n`],
    ['two headers', [PARENT, PARENT]],
    ['a header without a value', null],
    ['what is too long', `01-${IDS}-01-${'x'.repeat(2000)}`],
    ['bytes that are too long', Buffer.from(`01-${IDS}-01-${'x'.repeat(100_000)}`)],
    ['bytes that are no text', Buffer.from([0xff, 0xfe])],
  ])('%s', (_what, traceparent) => {
    expect(readTraceContext({ traceparent, tracestate: 'a=1' })).toBeNull();
  });
});

test('a valid traceparent is read as it came, from a text and from bytes', () => {
  expect(readTraceContext({ traceparent: PARENT })).toEqual({ traceparent: PARENT, tracestate: null });
  expect(readTraceContext({ traceparent: Buffer.from(PARENT) })?.traceparent).toBe(PARENT);
});

test('a later version is read as version 00, and of its flags only what is known', () => {
  expect(readTraceContext({ traceparent: `cc-${IDS}-ff-what-the-future-brings` })?.traceparent).toBe(`00-${IDS}-01`);
  expect(readTraceContext({ traceparent: `01-${IDS}-fe` })?.traceparent).toBe(`00-${IDS}-00`);
});

function stateOf(tracestate: string | Buffer | null | (string | Buffer | null)[]): string | null | undefined {
  return readTraceContext({ traceparent: PARENT, tracestate })?.tracestate;
}

describe('a tracestate', () => {
  test.each([
    ['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
    ['foo=1 \t , \tbar=2, ,', 'foo=1,bar=2'],
    ['fw529a3039@dt=FfffffffEaaa-b_*/,0tenant@sys=1', 'fw529a3039@dt=FfffffffEaaa-b_*/,0tenant@sys=1'],
    ['a= space inside', 'a= space inside'],
  ])('%j is passed on', (given, expected) => {
    expect(stateOf(given)).toBe(expected);
    expect(stateOf(Buffer.from(given))).toBe(expected);
  });

  test('without a value is left out', () => {
    expect([stateOf(null), stateOf(['foo=1', null])]).toEqual([null, null]);
  });

  test('in several headers is one list, in their order', () => {
    expect(stateOf(['foo=1', Buffer.from('bar=2')])).toBe('foo=1,bar=2');
  });

  test.each([
    [''],
    [','],
    ['foo'],
    ['=1'],
    ['foo='],
    ['Foo=1'],
    ['foo =1'],
    ['foo@=1'],
    ['foo@9=1'],
    ['foo=1=2'],
    ['foo=naïve'],
    ['foo=a\u0000b'],
    ['foo=1,b ad=2'],
    [Array.from({ length: 33 }, (_each, n) => `k${String(n)}=1`).join()],
    [`a=${'x'.repeat(256)},b=${'x'.repeat(256)}`],
    [`a=${'x'.repeat(257)}`],
    [`a=1,${' '.repeat(2000)}`],
  ])('%j is left out, and the traceparent stays', (given) => {
    expect(readTraceContext({ traceparent: PARENT, tracestate: given })).toEqual({
      traceparent: PARENT,
      tracestate: null,
    });
  });
});

test('whatever headers hold, what is read can be read again and says the same', () => {
  const byte = fc.oneof(
    fc.constantFrom('0', '1', 'a', 'f', '-', '=', ',', '@', ' ', '\t'),
    fc.string({ maxLength: 1 }),
  );
  const text = fc.oneof(
    fc.array(byte, { maxLength: 60 }).map((parts) => parts.join('')),
    fc.constant(PARENT),
  );
  const value = fc.oneof(
    text,
    text.map((each) => Buffer.from(each)),
    fc.array(text, { maxLength: 3 }),
    fc.constant(undefined),
  );
  fc.assert(
    fc.property(value, value, (traceparent, tracestate) => {
      const read = readTraceContext({ traceparent, tracestate });
      expect(readTraceContext(toTraceHeaders(read))).toEqual(read);
      expect(read === null || /^[\x20-\x7e]+$/.test(`${read.traceparent}${read.tracestate ?? ''}`)).toBe(true);
    }),
  );
});

test('nothing is told where there is no trace, and the tracestate not to those who are called', () => {
  expect(toTraceHeaders(null)).toEqual({});
  expect(withTraceparent(undefined, null)).toBeUndefined();
  expect(withTraceparent(['a', 'b'], null)).toEqual(['a', 'b']);
  const context = { traceparent: PARENT, tracestate: 'a=1' };
  expect(withTraceparent(undefined, context)).toEqual(['traceparent', PARENT]);
  expect(withTraceparent(['a', 'b'], context)).toEqual(['a', 'b', 'traceparent', PARENT]);
});
