import { describe, expect, test } from 'vitest';
import { flows, OwnedPartitions } from '../../../../src/edges/kafka/owned.ts';

const AT = { topic: 't', partition: 0 };

describe('a partition of the assignment', () => {
  test('does not flow before the engine has said where, nor before it wants records', () => {
    const all = new OwnedPartitions();
    all.assign({ t: [0] });
    const owned = all.get(AT);
    if (owned === undefined) throw new Error('not owned');
    owned.wanted = true;
    expect(flows(owned)).toBe(false);
    owned.expected = 5n;
    expect(flows(owned)).toBe(true);
    owned.wanted = false;
    expect(flows(owned)).toBe(false);
  });
});
