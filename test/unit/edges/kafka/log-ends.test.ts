import kafkajs from 'kafkajs';
import { expect, test } from 'vitest';
import { tellingLogEnds } from '../../../../src/edges/kafka/log-ends.ts';

const CREATE_CLUSTER = 'private:Kafka:createCluster';

/** What kafkajs itself makes the connections of an admin with. */
function isolationOf(kafka: kafkajs.Kafka, options: object): unknown {
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === CREATE_CLUSTER);
  if (symbol === undefined) throw new Error('kafkajs makes its connections in another way');
  const create = Reflect.get(kafka, symbol) as (of: object) => object;
  return Reflect.get(create(options), 'isolationLevel');
}

const client = (): kafkajs.Kafka => new kafkajs.Kafka({ brokers: ['127.0.0.1:9'], logLevel: kafkajs.logLevel.NOTHING });

test('connections of such a client ask for what is not committed, all others for what is', () => {
  const admins = { allowAutoTopicCreation: false, instrumentationEmitter: null };
  expect(isolationOf(tellingLogEnds(client()), admins)).toBe(0);
  expect(isolationOf(client(), admins)).toBeUndefined();
});
