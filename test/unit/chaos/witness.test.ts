import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Witness } from '../../chaos/witness.ts';

let witness: Witness;
let service: Server;
let baseUrl: string;
/** Answers what waits for it, in order. */
let answers: (() => void)[];

beforeEach(async () => {
  answers = [];
  witness = new Witness();
  service = createServer((request, response) => {
    request.resume().once('end', () => {
      answers.push(() => {
        response.end('{}');
      });
    });
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  baseUrl = `http://127.0.0.1:${String((service.address() as AddressInfo).port)}`;
});

afterEach(() => {
  witness.close();
  service.closeAllConnections();
  service.close();
});

const payment = (transId: string): string => JSON.stringify({ trans_id: transId, cust_id: 'c-1' });

async function turnsUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

describe('the witness', () => {
  test('notes who asked what, from the last byte to the end of the answer', async () => {
    const url = `${witness.urlOf(baseUrl, '2.5')}/api/v2/transaction`;
    const asked = fetch(url, { method: 'POST', body: payment('a') });
    await turnsUntil(() => answers.length === 1);
    expect(witness.sightings).toMatchObject([{ owner: '2.5', transId: 'a', key: 'c-1', endedMs: null }]);
    expect(witness.openOf('2.5')).toBe(1);
    answers[0]?.();
    await (await asked).text();
    expect(witness.sightings).toMatchObject([{ kind: 'score', status: 200 }]);
    expect(witness.openOf('2.5')).toBe(0);
  });

  test('is told of whom an answer that counts for nothing speaks', async () => {
    witness.isSpoilt = (kind, transIds) => kind === 'sync' && transIds.includes('b');
    const url = `${witness.urlOf(baseUrl, '1.1')}/api/v2/transaction`;
    for (const [count, ids] of [['a'], ['a', 'b']].entries()) {
      const asked = fetch(url, {
        method: 'PATCH',
        body: JSON.stringify(Object.fromEntries(ids.map((id) => [id, {}]))),
      });
      await turnsUntil(() => answers.length === count + 1);
      answers[count]?.();
      await (await asked).text();
    }
    expect(witness.sightings).toMatchObject([
      { transId: 'a', status: 200 },
      { transId: 'a', status: null },
      { transId: 'b', status: null },
    ]);
  });

  test('notes an id for each status of a batch', async () => {
    const url = `${witness.urlOf(baseUrl, '1.1')}/api/v2/transaction`;
    const asked = fetch(url, { method: 'PATCH', body: JSON.stringify({ a: {}, b: {} }) });
    await turnsUntil(() => answers.length === 1);
    answers[0]?.();
    await (await asked).text();
    expect(witness.sightings).toMatchObject([
      { kind: 'sync', transId: 'a', key: null },
      { kind: 'sync', transId: 'b', key: null },
    ]);
  });

  test('notes what was read although whoever wrote it had gone before, and that it had no answer', async () => {
    const { host, port } = new URL(baseUrl);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    const body = payment('given-up');
    const head = `POST /life/1.1/api/v2/transaction HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${String(body.length)}`;
    socket.write(`${head}\r\n\r\n${body}`);
    // Before the service has read a byte of it.
    socket.destroy();
    await turnsUntil(() => witness.sightings.length === 1 && witness.openOf('1.1') === 0);
    expect(witness.sightings).toMatchObject([{ transId: 'given-up', status: null }]);
  });

  test('notes nothing of what does not say whose it is', async () => {
    const asked = fetch(`${baseUrl}/api/v2/transaction`, { method: 'POST', body: payment('a') });
    await turnsUntil(() => answers.length === 1);
    answers[0]?.();
    await (await asked).text();
    expect(witness.sightings).toEqual([]);
  });
});
