import { describe, expect, test } from 'vitest';
import { letterTopicOf } from '../../../../src/app/dead-letters/letter-topic.ts';
import { readShown, transIdReader } from '../../../../src/app/dead-letters/read-value.ts';
import { readMapping } from '../../../../src/app/mapping.ts';
import { type ValueDecoder } from '../../../../src/engine/ports.ts';
import { letterOf, sourceRecord } from '../../dead-letters/builders.ts';

const config = { topics: { created: 'c', authorized: 'a', reviews: 'r', scores: null, deadLetterSuffix: '.dlq' } };
const NONE: ValueDecoder = { decode: () => ({ do: 'refuse', reason: 'undecodable', detail: 'avro' }) };
const NO_MAPPING = { scoring: null, sync: null };
const AVRO = Buffer.from([0, 0, 0, 0, 7, 1]);

const of = (value: string | Buffer | null) =>
  letterOf(sourceRecord({ value: typeof value === 'string' ? Buffer.from(value) : value }));
const idIn = (topic: string, value: string | Buffer | null, decoder = NONE, mapping = NO_MAPPING): unknown =>
  transIdReader(letterTopicOf(config, topic), { decoder, mapping })(of(value));

describe('which transaction a letter is about', () => {
  test('cannot be told of what cannot be read, or has no id', () => {
    for (const value of [null, '', '{', '[]', '{}', '{"trans_id":""}', '{"trans_id":1.5}', AVRO])
      for (const topic of ['c', 'a', 'r']) expect(idIn(topic, value)).toEqual({ do: 'item', item: null });
  });

  test('is its trans_id, though nothing else is right', () => {
    expect(idIn('c', '{"trans_id":"t-1","cvv":"123"}')).toEqual({ do: 'item', item: 't-1' });
    expect(idIn('a', '{"trans_id":7}')).toEqual({ do: 'item', item: '7' });
  });

  test('is what the mapping makes of it', () => {
    const { mapping } = readMapping({ mapping: 'scoring:\n  trans_id: /order/number\n' });
    expect(idIn('c', '{"order":{"number":"t-2"}}', NONE, mapping as typeof NO_MAPPING)).toEqual({
      do: 'item',
      item: 't-2',
    });
  });

  test('of Avro is told once its schema is there', () => {
    expect(idIn('c', AVRO, { decode: () => ({ do: 'needs', schema: 7 }) })).toEqual({ do: 'needs', schema: 7 });
    expect(idIn('c', AVRO, { decode: () => ({ do: 'value', value: { trans_id: 't-3' } }) })).toEqual({
      do: 'item',
      item: 't-3',
    });
  });

  test('of a webhook is that of its data', () => {
    expect(idIn('r', '{"type":"later","data":{"trans_id":"t-4"}}')).toEqual({ do: 'item', item: 't-4' });
    expect(idIn('r', '{"trans_id":"t-4"}')).toEqual({ do: 'item', item: null });
  });
});

describe('a value is read to be shown', () => {
  test('as JSON, as Avro, or not at all', () => {
    expect(readShown(of('{"a":1}'), NONE)).toEqual({
      do: 'item',
      item: { do: 'object', from: 'JSON', value: { a: 1 } },
    });
    expect(readShown(of(AVRO), { decode: () => ({ do: 'value', value: 5 }) })).toMatchObject({
      item: { from: 'Avro', value: 5 },
    });
    expect(readShown(of(AVRO), { decode: () => ({ do: 'needs', schema: 7 }) })).toEqual({ do: 'needs', schema: 7 });
    for (const value of ['{', Buffer.from([0xff]), AVRO, null])
      expect(readShown(of(value), NONE)).toMatchObject({ item: { do: 'unreadable' } });
  });
});
