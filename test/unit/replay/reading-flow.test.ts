import { expect, test } from 'vitest';
import { type Reading, type SourceRecord } from '../../../src/engine/ports.ts';
import { type SkipRule } from '../../../src/kernel/outcome.ts';
import { ReadingFlow } from '../../../src/replay/reading-flow.ts';
import { ScriptedFlow } from '../../support/scripted-flow.ts';

const RECORD: SourceRecord = {
  topic: 't',
  partition: 0,
  offset: 0n,
  timestampMs: 0,
  key: Buffer.from('id'),
  value: Buffer.from('v'),
  headers: {},
};

function read(reading: Reading<string> | null, rule: SkipRule | null = null) {
  const flow = new ScriptedFlow();
  flow.readings = () => reading;
  const seen: string[] = [];
  const reader = new ReadingFlow<string>({
    flow,
    onUpdate: (transId, _record, item) => {
      seen.push(`${transId}=${item}`);
      return rule;
    },
    onLetter: ({ reason }) => seen.push(reason),
  });
  return { end: reader.read(RECORD), seen, reader };
}

test('what is no update ends as the flow says', () => {
  expect(read({ do: 'skip', rule: 'tombstone' })).toMatchObject({ end: { do: 'skip', rule: 'tombstone' }, seen: [] });
  expect(read({ do: 'needs', schema: 7 })).toMatchObject({ end: { do: 'needs', schema: 7 }, seen: [] });
});

test('what would be a letter is told and passed over: none is written', () => {
  const letter = { reason: 'ts_invalid', stage: 'read' } as const;
  expect(read({ do: 'dead_letter', letter })).toMatchObject({
    end: { do: 'skip', rule: 'out_of_range' },
    seen: ['ts_invalid'],
  });
});

test('an update is told with its lane and ends when it is read', () => {
  expect(read(null)).toMatchObject({ end: { do: 'delivered' }, seen: ['id=v'] });
  expect(read(null, 'newer_exists').end).toEqual({ do: 'skip', rule: 'newer_exists' });
});

test('nothing of it ever runs', async () => {
  const { reader } = read(null);
  expect(await reader.run()).toEqual({ do: 'release' });
  expect(reader.due()).toBeNull();
  expect(reader.mayStart()).toBeNull();
});
