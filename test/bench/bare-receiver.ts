import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { createKafkaClient } from '../../src/edges/kafka/client.ts';
import { createKafkaWriter } from '../../src/edges/kafka/writer.ts';
import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';

/**
 * The least that can be done with a webhook: `node:http`, the signature, JSON.parse, the connector's own writer, 200. No
 * limits, strict forms, window, duplicates, Avro, metrics. Arguments: port, broker, topic, secret.
 */
const [port = '', broker = '', topic = '', secret = ''] = process.argv.slice(2);
const key = createSecretKey(secret, 'utf8');
const client = createKafkaClient({ brokers: [broker], clientId: 'bare', sessionTimeoutMs: 30_000 }, () => undefined);
const writer = createKafkaWriter({ client, clock: systemClock, draw: systemDraw, emit: () => undefined });
await writer.connect();

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    void take(Buffer.concat(chunks), request.headers).then((status) => {
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': 2 }).end('{}');
    });
  });
}).listen(Number(port), '127.0.0.1');

async function take(body: Buffer, headers: NodeJS.Dict<string | string[]>): Promise<number> {
  const timestamp = String(headers['x-servicewebhook-timestamp']);
  const signature = Buffer.from(String(headers['x-servicewebhook-signature']), 'hex');
  const expected = createHmac('sha256', key).update(timestamp).update(body).digest();
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return 401;
  const { data } = JSON.parse(body.toString()) as { readonly data: { readonly trans_id: string } };
  const record = { topic, key: Buffer.from(data.trans_id), value: body, headers: {} };
  return (await writer.write(record, 3000)).do === 'written' ? 200 : 503;
}
