import { expect, test } from 'vitest';
import { GROUP, makeWorld, started, TOPIC } from '../../../support/engine-world.ts';
import { settled } from '../../../support/manual-clock.ts';
import { Rig, UNAVAILABLE } from './rig.ts';

test('a membership that is lost with a score that is not written leaves nothing behind: payments without room wait for nothing', async () => {
  const rig = new Rig();
  rig.outcomes = [UNAVAILABLE];
  const world = makeWorld(undefined, 1024, { flows: new Map([[TOPIC, rig.flow]]), clock: rig.clock });
  world.broker.append(TOPIC, 0, { key: 'a', value: '{"trans_id":"T1"}' });
  await started(world);
  expect(world.engine.status().flows[0]?.waits).toMatchObject([{ cause: 'kafka', records: 1 }]);
  world.source.crash();
  await world.broker.rebalance(GROUP);
  world.broker.deliver();
  await settled();
  expect(rig.scores).toHaveLength(2);
  rig.free = 0;
  for (const key of ['b', 'c']) world.broker.append(TOPIC, 0, { key, value: `{"trans_id":"${key}"}` });
  world.broker.deliver();
  await settled();
  expect(world.engine.status().flows[0]).toMatchObject({ buffered: 2, inFlight: 0, waits: [] });
});
