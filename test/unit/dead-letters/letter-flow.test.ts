import { describe, expect, test } from 'vitest';
import { LetterFlow, lettersAgain } from '../../../src/dead-letters/letter-flow.ts';
import { readLetter } from '../../../src/dead-letters/read-letter.ts';
import { toSourceRecord } from '../../../src/dead-letters/source-record.ts';
import { type SourceRecord } from '../../../src/engine/ports.ts';
import { ScriptedFlow } from '../../support/scripted-flow.ts';
import { letterOf, sourceRecord } from './builders.ts';

function recordOf(letter: SourceRecord): SourceRecord | null {
  const facts = readLetter(letter);
  return facts?.source.do === 'record' && letter.offset === 7n ? toSourceRecord(letter, facts.source) : null;
}

describe('a letter goes through the flow of its source', () => {
  test('which passes over what was not chosen', () => {
    const flow = new LetterFlow(new ScriptedFlow(), recordOf);
    expect(flow.read(letterOf(undefined, undefined, { offset: 8n }))).toEqual({ do: 'skip', rule: 'out_of_range' });
  });

  test('which sees the record of the source, in its lane and in its steps', async () => {
    const inner = new ScriptedFlow();
    inner.answer = () => ({ do: 'delivered' });
    const flow = new LetterFlow(inner, recordOf);
    const letter = letterOf();
    const reading = flow.read(letter);
    if (reading.do !== 'item') throw new Error('no item');
    expect(flow.lane(reading.item)).toBe('k1');
    const job = {
      record: letter,
      item: reading.item,
      attempt: 1,
      carry: undefined,
      tenure: { epoch: 1, phase: 'owned' },
      lane: 'k1',
      ordinal: 0,
    } as const;
    expect(flow.mayStart(job, 0)).toBeNull();
    expect(await flow.run(job)).toEqual({ do: 'delivered' });
    const { topic, partition, offset, timestampMs } = sourceRecord();
    expect(inner.started[0]?.job.record).toMatchObject({ topic, partition, offset, timestampMs });
  });

  test('whose refusals at reading are its own', () => {
    const inner = new ScriptedFlow();
    const letter = { reason: 'undecodable', stage: 'read' } as const;
    inner.readings = () => ({ do: 'dead_letter', letter });
    expect(new LetterFlow(inner, recordOf).read(letterOf())).toEqual({ do: 'dead_letter', letter });
  });

  test('which is told what it is asked: room, time, barriers', () => {
    const inner = new ScriptedFlow();
    const flow = new LetterFlow(inner, recordOf);
    flow.barrier('stop');
    flow.tick(5);
    flow.lettered(letterOf());
    expect([inner.barriers, inner.ticks, flow.room(0), flow.due(0)]).toEqual([['stop'], [5], 64, null]);
    expect([flow.isAnswered('a score'), flow.isAnswered('nothing')]).toEqual([true, false]);
  });
});

test('a letter of a letter is written as one of the source', async () => {
  const written: SourceRecord[] = [];
  const letters = lettersAgain(
    {
      write: async (record) => {
        written.push(record);
        return await Promise.resolve('written');
      },
    },
    recordOf,
  );
  await letters.write(letterOf(), { reason: 'status_400', stage: 'score' }, 3);
  expect(written[0]).toMatchObject({ topic: 'payments.created', partition: 3, offset: 42n });
  expect(written[0]?.headers['dlq.attempts']).toBe('2');
});
