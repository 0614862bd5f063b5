import { afterEach, expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, recordsOf, somePayments } from '../support/payment-world.ts';

let world: PaymentWorld;
afterEach(async () => {
  await world.close();
});

test('a letter that cannot be written holds its record, also over a kill -9, and no other', async () => {
  world = await PaymentWorld.open({ ...inject('kafka') });
  const { created } = world.topics;
  const [first, second] = somePayments(2);
  const scored = (transId = ''): boolean => world.service.ledger().transaction(transId)?.scored === 1;
  const connector = await (await world.start()).ready();

  await world.deleteTopic(world.letters(created));
  await world.send(created, { key: 'bad', value: 'no JSON' });
  await world.send(created, ...recordsOf(first === undefined ? [] : [first]).created);
  await eventually('the payment behind it is scored', () => scored(first?.transId));
  await eventually('the hold is named', async () => {
    const status = await connector.status();
    const waits = status?.flows.find(({ name }) => name === 'scoring')?.waits ?? [];
    return waits.some(({ cause, records }) => cause === 'dead_letter_topic' && records === 1);
  });
  const partition = (await connector.status())?.partitions.find(({ topic }) => topic === created);
  expect(partition).toMatchObject({ committable: '0', lag: '2' });
  expect(await connector.outcome('scoring', 'dead_letter:undecodable')).toBe(0);
  await connector.kill();

  await world.createTopic(world.letters(created));
  const letters = await world.read(world.letters(created));
  const next = await (await world.start()).ready();
  const letter = await letters.find(world.letters(created), () => true);
  expect(letter.value?.toString()).toBe('no JSON');
  await world.send(created, ...recordsOf(second === undefined ? [] : [second]).created);
  await eventually('the next payment is scored', () => scored(second?.transId));
  expect(await next.stop()).toMatchObject({ code: 0 });
  expect(letters.records).toHaveLength(1);
  expect(scored(first?.transId)).toBe(true);
});
