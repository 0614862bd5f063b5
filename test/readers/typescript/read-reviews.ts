// Keeps the newest review of each payment in a database. Usage: node read-reviews.ts FraudReview.avsc reviews.db
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import schemaRegistry from '@kafkajs/confluent-schema-registry';
import kafkajs from 'kafkajs';

interface Review {
  readonly event_id: string;
  readonly account: string;
  readonly trans_id: string;
  readonly decision: string;
  /** Microseconds since 1970. */
  readonly reviewed_at: number;
}

interface AvroRecord {
  readonly type: 'record';
  readonly name: string;
  readonly fields: object[];
}

const [schemaFile = 'FraudReview.avsc', databaseFile = 'reviews.db'] = process.argv.slice(2);
const {
  KAFKA_BROKERS: brokers = '127.0.0.1:9092',
  KAFKA_GROUP_ID: groupId = 'read-reviews',
  SCHEMA_REGISTRY_URL: registryUrl = 'http://127.0.0.1:8081',
  TOPIC_REVIEWS: topic = 'fraud.reviews',
  KAFKA_TLS: tls = 'false',
  KAFKA_TLS_CA_FILE: caFile = '',
  KAFKA_SASL_MECHANISM: mechanism = 'none',
  KAFKA_SASL_USERNAME: username = '',
  KAFKA_SASL_PASSWORD: password = '',
} = process.env;

/** How the brokers are reached: with TLS, by the authorities of a file or of this machine, and with a user, or not. */
const security = {
  ssl: tls === 'true' && (caFile === '' || { ca: [readFileSync(caFile)] }),
  ...(mechanism === 'none' ? {} : { sasl: { mechanism, username, password } as kafkajs.SASLOptions }),
};

const db = new DatabaseSync(databaseFile);
db.exec(`
  create table if not exists seen (account text, event_id text, primary key (account, event_id));
  create table if not exists review (
    account text, trans_id text, event_id text, decision text, reviewed_at integer, primary key (account, trans_id)
  )`);
const noteEvent = db.prepare('insert into seen values (?, ?) on conflict do nothing');
const keepNewest = db.prepare(`
  insert into review values (?, ?, ?, ?, ?) on conflict (account, trans_id) do update
  set event_id = excluded.event_id, decision = excluded.decision, reviewed_at = excluded.reviewed_at
  where (excluded.reviewed_at, excluded.event_id) > (review.reviewed_at, review.event_id)`);

/** Both rows or neither, so that a crash in between is only a repeat. */
function keep(review: Review): 'newest' | 'older' | 'duplicate' {
  db.exec('begin immediate');
  try {
    const { account, trans_id, event_id, decision, reviewed_at } = review;
    const isNew = noteEvent.run(account, event_id).changes > 0;
    const isNewest = isNew && keepNewest.run(account, trans_id, event_id, decision, reviewed_at).changes > 0;
    db.exec('commit');
    if (!isNew) return 'duplicate';
    return isNewest ? 'newest' : 'older';
  } catch (error) {
    db.exec('rollback');
    throw error;
  }
}

/** Only what is known to be good is released: `unknown` and whatever comes later wait for a person. */
function actionFor(decision: string): 'release' | 'cancel' | 'hold' {
  if (decision === 'good' || decision === 'probably_good') return 'release';
  return decision === 'bad' ? 'cancel' : 'hold';
}

const registry = new schemaRegistry.SchemaRegistry({ host: registryUrl });
const readerSchema = JSON.parse(readFileSync(schemaFile, 'utf8')) as AvroRecord;
const kafka = new kafkajs.Kafka({
  clientId: groupId,
  brokers: brokers.split(','),
  ...security,
  logLevel: kafkajs.logLevel.ERROR,
});
const consumer = kafka.consumer({
  groupId,
  retry: { retries: 5, restartOnFailure: async () => await Promise.resolve(false) },
});

async function stop(code: number): Promise<never> {
  await consumer.disconnect().catch(() => undefined);
  process.exit(code);
}
// What cannot be worked on is not passed over: the process ends, and begins there when it is started again.
consumer.on('consumer.crash', () => void stop(1));
process.once('SIGTERM', () => void stop(0));
process.once('SIGINT', () => void stop(0));

await consumer.connect();
await consumer.subscribe({ topics: [topic], fromBeginning: true });
await consumer.run({
  autoCommit: false,
  eachMessage: async ({ topic: from, partition, message }) => {
    if (message.value !== null) {
      const review = (await registry.decode(message.value, { AVRO: { readerSchema } })) as Review;
      const outcome = keep(review);
      const { trans_id, decision } = review;
      console.log(JSON.stringify({ outcome, trans_id, decision, action: actionFor(decision) }));
    }
    // After the work: a crash before this line repeats the record, and the database knows its event_id.
    await consumer.commitOffsets([{ topic: from, partition, offset: String(BigInt(message.offset) + 1n) }]);
  },
});
