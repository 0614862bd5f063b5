// Made-up shops for docker-compose.yaml: writes payments, and a moment later what became of each, until it is stopped.
// The argument is the number of payments a second. It runs in the connector's image, beside /app/dist.
import kafkajs from 'kafkajs';
import { repairKafkajs } from './dist/edges/kafka/repairs.js';
import { createShops } from './dist/sandbox/shops.js';

repairKafkajs();
const rate = Number(process.argv[2] ?? 20);
const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
const producer = new kafkajs.Kafka({ clientId: 'shops', brokers, logLevel: kafkajs.logLevel.ERROR }).producer({
  createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
});
const shops = createShops({ seed: Date.now() % 2 ** 31 });
let written = 0;

async function write(topic, key, value) {
  await producer.send({ topic, messages: [{ key, value: JSON.stringify(value) }] });
}

async function sell() {
  const payment = shops.payment(Date.now());
  await write('payments.created', payment.key, payment.created);
  written += 1;
  setTimeout(() => {
    write('payments.authorized', payment.key, payment.authorized(Date.now())).catch(fail);
  }, payment.authorizedAfterMs);
}

function fail(error) {
  console.error(`shops: ${error.name}`);
  process.exit(1);
}

await producer.connect();
setInterval(() => sell().catch(fail), 1000 / rate);
setInterval(() => console.log(`shops: ${written} payments written`), 10_000);
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0));
