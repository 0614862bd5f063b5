import { expect, test } from 'vitest';
import { BrokerTraffic } from '../../../../src/edges/kafka/broker-traffic.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

test('all brokers were heard when the one was that has been quiet for longest; of others nothing is asked', () => {
  const clock = new ManualClock();
  const traffic = new BrokerTraffic(clock);
  traffic.heard('one:9092');
  clock.advance(100);
  traffic.heard('two:9092');
  clock.advance(100);
  traffic.heard('three:9092');
  expect(traffic.allHeardAtMs(['one:9092', 'two:9092'])).toBe(0);
  expect(traffic.allHeardAtMs(['two:9092'])).toBe(100);
  traffic.heard('one:9092');
  expect(traffic.allHeardAtMs(['one:9092', 'two:9092'])).toBe(100);
});

test('it is not known of a broker that was never heard, nor of none', () => {
  const traffic = new BrokerTraffic(new ManualClock());
  traffic.heard('one:9092');
  expect(traffic.allHeardAtMs(['one:9092', 'two:9092'])).toBeNull();
  expect(traffic.allHeardAtMs([])).toBeNull();
});
