import { describe, expect, test } from 'vitest';
import { createCardGuard } from '../../../../src/screening/card-guard.ts';
import { createJob, createRecord, failed, type MutableTenure, REFUSED, Rig, UNAVAILABLE } from './rig.ts';

/** A payment of this tenure is answered with 503 and waits. */
async function waitOf(rig: Rig, tenure: MutableTenure, offset: bigint): Promise<void> {
  rig.judged = [failed()];
  expect(await rig.flow.run(createJob(tenure, createRecord({ offset })))).toMatchObject({ do: 'wait' });
}

describe('scoring is held', () => {
  test('from a wait on, until a payment ends', async () => {
    const rig = new Rig();
    const tenure: MutableTenure = { epoch: 1, phase: 'owned' };
    expect(rig.flow.isHeld).toBe(false);
    await waitOf(rig, tenure, 1n);
    expect(rig.flow.isHeld).toBe(true);
    rig.judged = [REFUSED];
    await rig.flow.run(createJob(tenure, createRecord({ offset: 2n })));
    expect(rig.flow.isHeld).toBe(false);
  });

  test('as long as calls do not go out, though one that was under way has ended well', async () => {
    const rig = new Rig();
    const tenure: MutableTenure = { epoch: 1, phase: 'owned' };
    await waitOf(rig, tenure, 1n);
    await rig.flow.run(createJob(tenure, createRecord({ offset: 2n })));
    rig.why = 'service_down';
    expect(rig.flow.isHeld).toBe(true);
    rig.why = null;
    expect(rig.flow.isHeld).toBe(false);
  });

  test('by scores that Kafka does not take', async () => {
    const rig = new Rig();
    rig.outcomes = [UNAVAILABLE];
    await rig.flow.run(createJob());
    expect(rig.flow.isHeld).toBe(true);
  });

  test('no longer once the partition of what waits is lost: whoever has it now may be better off', async () => {
    const rig = new Rig();
    const tenure: MutableTenure = { epoch: 1, phase: 'owned' };
    await waitOf(rig, tenure, 1n);
    rig.why = 'service_down';
    tenure.phase = 'lost';
    expect(rig.flow.isHeld).toBe(false);
  });
});

test('payments are held, tried or not, as long as calls do not go out', () => {
  const rig = new Rig();
  expect(rig.flow.heldBack()).toBeNull();
  rig.why = 'service_refuses';
  expect(rig.flow.heldBack()).toBe(0);
});

describe('a payment that became a letter unread', () => {
  const CARD = '{"trans_id":"T9","cust_email":"4111 1111 1111 1111"}';

  test('for its card data, is told to sync by its trans_id', () => {
    const rig = new Rig({ guard: createCardGuard([]) });
    const record = createRecord({ value: Buffer.from(CARD) });
    expect(rig.flow.read(record)).toMatchObject({ do: 'dead_letter', letter: { reason: 'card_data' } });
    rig.flow.lettered(record);
    expect(rig.log).toEqual(['note T9 {"do":"refused","partition":3}']);
  });

  test.each(['{"cust_id":"c"}', '{', '[]', JSON.stringify({ trans_id: 'T9', note: 'x'.repeat(1000) })])(
    'and has no trans_id that can be told, is told to nobody: %s',
    (value) => {
      const rig = new Rig();
      rig.flow.lettered(createRecord({ value: Buffer.from(value) }));
      expect(rig.log).toEqual([]);
    },
  );
});
