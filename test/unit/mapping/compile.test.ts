import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileMapping, type ServiceLanguage } from '../../../src/mapping/compile.ts';
import { type Mapped, type RecordMapper } from '../../../src/mapping/mapper.ts';
import { parseKeepingNumbers } from '../../../src/mapping/tokens.ts';
import { formatRfc3339 } from '../../../src/screening/rfc3339.ts';

const ITEM = new Map([['item_amt', null]]);
const LANGUAGE: ServiceLanguage = {
  known: {
    scoring: new Map([
      ['trans_id', null],
      ['trans_amt', null],
      ['items', ITEM],
    ]),
    sync: new Map([['trans_id', null]]),
  },
  required: { scoring: ['trans_id'], sync: ['trans_id', 'status'] },
  formatTime: formatRfc3339,
};

function problems(text: string): readonly string[] {
  const compiled = compileMapping(text, LANGUAGE);
  return compiled.do === 'refused' ? compiled.problems : [];
}

/** A mapping of scoring with this entry beside the trans_id. */
function mapperOf(entry: string, rest = ''): RecordMapper {
  const compiled = compileMapping(`scoring:\n  trans_id: { const: t }\n  d: ${entry}\n${rest}`, LANGUAGE);
  if (compiled.do === 'refused' || compiled.mapping.scoring === null)
    throw new Error(compiled.do === 'refused' ? compiled.problems.join('\n') : 'not there');
  return compiled.mapping.scoring;
}

/** What becomes of one datapoint: its JSON, undefined where it is left out, or the code and detail of a letter. */
function made(entry: string, json: string): string | undefined {
  const mapped = mapperOf(entry).map(parseKeepingNumbers(json) as Record<string, unknown>);
  if (mapped.do === 'dead_letter')
    return `${mapped.letter.reason} ${mapped.letter.detail ?? ''} ${mapped.letter.stage}`;
  return mapped.do === 'mapped' ? JSON.stringify(mapped.value['d']) : mapped.rule;
}

const REFUSED = 'mapping_refused d read';

describe('a mapping file is refused', () => {
  test.each<[string, string, string]>([
    ['nothing', '', 'nothing is not accepted; give an object with scoring, sync or both'],
    ['an empty object', '{}', 'it is empty'],
    ['broken YAML', 'scoring: [', 'line 1, column 11: no valid YAML'],
    ['an unknown flow', 'scorin: {trans_id: /a}', 'line 1, column 1, /scorin: "scorin" is no flow'],
    ['an empty flow', 'scoring:', 'line 1, column 9, /scoring: nothing is not accepted'],
    ['a flow without trans_id', 'scoring: {trans_amt: /a}', 'trans_id is missing'],
    ['a bad pointer', 'scoring: {trans_id: id}', 'column 21, /scoring/trans_id: "id" is no JSON pointer'],
    ['a number for an entry', 'scoring: {trans_id: 5}', '"5" is not accepted'],
    ['an unknown helper', 'scoring: {trans_id: {from: /a, uper: true}}', '"uper" is no helper; give one of from'],
    ['no source', 'scoring: {trans_id: {upper: true}}', 'give one of from, first_of, const'],
    ['two sources', 'scoring: {trans_id: {from: /a, const: 1}}', 'two sources'],
    ['const with another helper', 'scoring: {trans_id: {const: a, upper: true}}', 'const stands alone'],
    ['a const that is a list', 'scoring: {trans_id: {const: [a]}}', 'a list is not accepted'],
    ['a number that JSON cannot say', 'scoring: {trans_id: {const: 012}}', '"012" is not accepted'],
    ['two conversions', 'scoring: {trans_id: {from: /a, country: alpha3, expiry: MMYY}}', 'cannot be together'],
    ['upper and lower', 'scoring: {trans_id: {from: /a, upper: true, lower: true}}', 'cannot be together'],
    ['upper that is not true', 'scoring: {trans_id: {from: /a, upper: yes}}', 'give true'],
    ['an unknown form', 'scoring: {trans_id: {from: /a, timestamp: iso}}', 'give epoch_s or epoch_ms'],
    ['an empty map', 'scoring: {trans_id: {from: /a, map: {}}}', 'it is empty'],
    ['otherwise without map', 'scoring: {trans_id: {from: /a, otherwise: pass}}', 'otherwise belongs to map'],
    [
      'an unknown otherwise',
      'scoring: {trans_id: {from: /a, map: {a: b}, otherwise: drop}}',
      'give refuse or skip or pass',
    ],
    ['first_of that is no list', 'scoring: {trans_id: {first_of: /a}}', 'give a list'],
    ['an empty each', 'scoring: {trans_id: /a, items: {from: /l, each: {}}}', 'it is empty'],
    ['a name that is no datapoint', 'scoring: {trans_id: /a, "a b": /b}', 'no name of a datapoint'],
    ['__proto__', 'scoring: {trans_id: /a, __proto__: /b}', 'no name of a datapoint'],
    ['a name that is given twice', 'scoring: {trans_id: /a, trans_id: /b}', 'it is given twice'],
    ['an alias', 'scoring: {trans_id: &a /a, trans_amt: *a}', 'a YAML alias is not accepted'],
    [
      'a skip rule without values',
      'scoring: {trans_id: /a, skip_when: {pointer: /b, in: []}}',
      'give a list of values',
    ],
    ['half a skip rule', 'scoring: {trans_id: /a, skip_when: {pointer: /b}}', 'it is not whole'],
    ['an unknown rest', 'scoring: {trans_id: /a, rest: keep}', 'give drop or pass'],
  ])('for %s', (_name, text, expected) => {
    const found = problems(text);
    expect(found.join('\n')).toContain(expected);
    expect(found.every((line) => /^line \d+, column \d+/.test(line))).toBe(true);
  });

  test('with every problem at once, in the order of the file', () => {
    const found = problems('sync:\n  trans_id: id\n  status: { from: /s, upper: no }\nreviews: {}\n');
    expect(found.map((line) => line.split(':')[0])).toEqual([
      'line 2, column 13, /sync/trans_id',
      'line 3, column 30, /sync/status/upper',
      'line 4, column 1, /reviews',
    ]);
  });

  test('never for a datapoint that nobody has heard of, which is a warning', () => {
    const text = 'scoring: {trans_id: /a, trans_amount: /b, items: {from: /c, each: {item_amount: /d}}}';
    const compiled = compileMapping(text, LANGUAGE);
    expect(compiled.do === 'compiled' && compiled.warnings).toEqual([
      expect.stringContaining('/scoring/trans_amount: '),
      expect.stringContaining('/scoring/items/each/item_amount: '),
    ]);
  });

  test('never by a throw, whatever is in it', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => JSON.stringify({ scoring: value })),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(['compiled', 'refused']).toContain(compileMapping(text, LANGUAGE).do);
      }),
    );
  });
});

describe('an entry', () => {
  test.each<[string, string, string | undefined]>([
    ['{ from: /a, minor_units: /c }', '{"a":1,"c":"EURO"}', REFUSED],
    ['{ from: /a, minor_units: /c }', '{"a":1}', REFUSED],
    ['{ from: /a, minor_units: /c }', '{"a":1250,"c":"EUR"}', '12.50'],
    ['{ from: /a, minor_units: /c, to_string: true }', '{"a":1250,"c":"EUR"}', '"12.50"'],
    ['{ from: /a, timestamp: epoch_s }', '{"a":"x"}', REFUSED],
    ['{ from: /a, timestamp: epoch_s }', '{"a":0}', '"1970-01-01T00:00:00Z"'],
    ['{ from: /a, country: alpha3 }', '{"a":"DE"}', REFUSED],
    ['{ from: /a, country: alpha3 }', '{"a":"DEU"}', '"DE"'],
    ['{ from: /a, expiry: MMYY }', '{"a":"1399"}', REFUSED],
    ['{ from: /a, expiry: MMYY }', '{"a":"12/29"}', '"1229"'],
    ['{ from: /a, upper: true }', '{"a":5}', REFUSED],
    ['{ from: /a, lower: true }', '{"a":"AbC"}', '"abc"'],
    ['{ from: /a, to_string: true }', '{"a":{}}', REFUSED],
    ['{ from: /a, to_string: true }', '{"a":12345678901234567890}', '"12345678901234567890"'],
    ['{ from: /a, to_string: true }', '{"a":true}', '"true"'],
    ['{ from: /a, map: { x: y } }', '{"a":"z"}', REFUSED],
    ['{ from: /a, map: { x: y } }', '{"a":["x"]}', REFUSED],
    ['{ from: /a, map: { x: y } }', '{"a":"constructor"}', REFUSED],
    ['{ from: /a, map: { x: y }, otherwise: skip }', '{"a":"z"}', undefined],
    ['{ from: /a, map: { x: y }, otherwise: skip, default: w }', '{"a":"z"}', '"w"'],
    ['{ from: /a, map: { x: y }, otherwise: pass }', '{"a":[1.10]}', '[1.10]'],
    ['{ from: /a, map: { x: y } }', '{"a":"x"}', '"y"'],
    ['{ from: /a, upper: true, map: { X: y } }', '{"a":"x"}', '"y"'],
    ['{ from: /a, map: { 05: y, 1.0: 2.50, true: false } }', '{"a":"05"}', '"y"'],
    ['{ from: /a, map: { 05: y, 1.0: 2.50, true: false } }', '{"a":1.0}', '2.50'],
    ['{ from: /a, map: { 05: y, 1.0: 2.50, true: false } }', '{"a":true}', 'false'],
    ['{ from: /a, each: { x: /b } }', '{"a":{"b":1}}', REFUSED],
    ['{ from: /a, each: { x: { from: /b, upper: true } } }', '{"a":[{"b":1}]}', 'mapping_refused d.x read'],
    ['{ from: /a, each: { x: /b, y: ^/c, z: /no } }', '{"a":[{"b":1.10},{}],"c":7}', '[{"x":1.10,"y":7},{"y":7}]'],
    ['{ from: /a, each: { x: "" } }', '{"a":[1,2]}', '[{"x":1},{"x":2}]'],
    ['{ from: /a, each: { x: { from: /b, each: { y: /c } } } }', '{"a":[{"b":[{"c":1}]}]}', '[{"x":[{"y":1}]}]'],
    ['{ from: /a, each: { x: /b } }', '{"a":[]}', '[]'],
    ['{ first_of: [/a, { from: /b, upper: true }] }', '{"b":5}', REFUSED],
    ['{ first_of: [/a, { from: /b, upper: true }] }', '{"b":"x"}', '"X"'],
    ['{ first_of: [/a, /b], lower: true }', '{"a":"A","b":"B"}', '"a"'],
    ['{ first_of: [/a, /b] }', '{"a":null,"b":false}', 'false'],
    ['{ first_of: [/a, /b], default: 1 }', '{}', '1'],
    ['{ const: 1.10 }', '{}', '1.10'],
    ['{ const: "1.10" }', '{}', '"1.10"'],
    ['{ const: no }', '{}', '"no"'],
    ['{ from: /a, default: 1.50 }', '{}', '1.50'],
    ['{ from: /a, upper: true, default: left }', '{}', '"left"'],
    ['/a', '{}', undefined],
    ['/a', '{"a":null}', undefined],
    ['/a', '{"a":""}', '""'],
    ['/a', '{"a":{"b":[null,1e400,-0]}}', '{"b":[null,1e400,-0]}'],
    ['/constructor', '{}', undefined],
    ['""', '{"a":1}', '{"a":1}'],
  ])('%s makes of %s: %s', (entry, json, expected) => {
    expect(made(entry, json)).toBe(expected);
  });

  test("refuses Avro's bytes, wherever they are", () => {
    for (const a of [Buffer.from('x'), { b: [Buffer.from('x')] }])
      expect(mapperOf('/a').map({ a })).toMatchObject({ do: 'dead_letter', letter: { detail: 'd' } });
  });

  test('never throws, whatever the record is', () => {
    const helpers = [
      'minor_units: /b',
      'timestamp: epoch_s',
      'timestamp: epoch_ms',
      'country: alpha3',
      'expiry: YYMM',
      'map: { a: b }, otherwise: pass',
      'upper: true',
      'to_string: true',
      'each: { x: /b/c, y: ^/a }',
    ].map((helper) => mapperOf(`{ from: /a, ${helper} }`, '  rest: pass\n'));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'd'), fc.jsonValue()), (value) => {
        const record = parseKeepingNumbers(JSON.stringify(value)) as Record<string, unknown>;
        for (const mapper of helpers) expect(['mapped', 'dead_letter']).toContain(mapper.map(record).do);
      }),
    );
  });
});

const mapped = (json: string, ...lines: string[]): Mapped =>
  mapperOf('/d', lines.map((line) => `  ${line}\n`).join('')).map(parseKeepingNumbers(json) as Record<string, unknown>);

describe('a flow', () => {
  test.each([
    ['{"kind":"test"}', 'skip'],
    ['{"kind":1}', 'skip'],
    ['{"kind":"1"}', 'skip'],
    ['{"live":false}', 'skip'],
    ['{"kind":1.0}', 'mapped'],
    ['{"kind":"Test"}', 'mapped'],
    ['{"kind":null}', 'mapped'],
    ['{"kind":["test"]}', 'mapped'],
    ['{"live":true}', 'mapped'],
  ])('passes over what a rule of skip_when meets: %s is %s', (json, expected) => {
    const rules = 'skip_when: [{ pointer: /kind, in: [test, 1] }, { pointer: /live, in: [false] }]';
    expect(mapped(json, rules).do).toBe(expected);
  });

  test('asks skip_when before any helper can refuse', () => {
    const mapper = mapperOf('{ from: /a, country: alpha3 }', '  skip_when: { pointer: /a, in: [none] }\n');
    expect(mapper.map({ a: 'none' })).toEqual({ do: 'skip', rule: 'skip_when' });
  });

  test('lets nothing out that is not listed, unless told to pass the rest', () => {
    const json = '{"d":1,"e":1.10,"trans_id":"other","__proto__":{"x":1},"n":null}';
    expect(JSON.stringify(mapped(json))).toBe('{"do":"mapped","value":{"trans_id":"t","d":1}}');
    expect(JSON.stringify(mapped(json, 'rest: pass'))).toBe(
      '{"do":"mapped","value":{"trans_id":"t","d":1,"e":1.10,"__proto__":{"x":1},"n":null}}',
    );
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('does not need its ids listed where the rest is passed', () => {
    expect(problems('sync: {rest: pass, status: /outcome}')).toEqual([]);
  });

  test('tells where each datapoint comes from', () => {
    expect([...mapperOf('{ first_of: [/a, /b], upper: true }').origins]).toEqual([
      ['trans_id', 'const t'],
      ['d', 'first_of /a | /b, upper true'],
    ]);
  });
});
