// Keeps the decision on each payment in a database. Usage: node read-scores.ts FraudScore.avsc scores.db
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import schemaRegistry from '@kafkajs/confluent-schema-registry';
import kafkajs from 'kafkajs';

interface Score {
  readonly account: string;
  readonly trans_id: string;
  readonly decision: string;
  readonly score: number | null;
  /** Not null: the record holds no decision. */
  readonly failure: string | null;
}

interface AvroRecord {
  readonly type: 'record';
  readonly name: string;
  readonly fields: object[];
}

const [schemaFile = 'FraudScore.avsc', databaseFile = 'scores.db'] = process.argv.slice(2);
const {
  KAFKA_BROKERS: brokers = '127.0.0.1:9092',
  KAFKA_GROUP_ID: groupId = 'read-scores',
  SCHEMA_REGISTRY_URL: registryUrl = 'http://127.0.0.1:8081',
  TOPIC_SCORES: topic = 'fraud.scores',
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
  create table if not exists payment (
    account text, trans_id text, decision text, failure text, score real, position integer,
    primary key (account, trans_id)
  )`);
// The last record of a payment counts, but a failure never replaces a decision. Repeats and re-reading change nothing.
const keepLast = db.prepare(`
  insert into payment values (?, ?, ?, ?, ?, ?) on conflict (account, trans_id) do update
  set decision = excluded.decision, failure = excluded.failure, score = excluded.score, position = excluded.position
  where excluded.position > payment.position and (excluded.failure is null or payment.failure is not null)`);

function keep({ account, trans_id, decision, failure, score }: Score, position: number): 'stored' | 'kept' {
  return keepLast.run(account, trans_id, decision, failure, score, position).changes > 0 ? 'stored' : 'kept';
}

/** Only an approval is one: `unknown` and whatever comes later wait for a person. */
function actionFor(decision: string): 'accept' | 'reject' | 'review' | 'custom' | 'hold' {
  if (decision === 'approve') return 'accept';
  if (decision === 'decline') return 'reject';
  if (decision === 'manual_review') return 'review';
  return decision === 'custom' ? 'custom' : 'hold';
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
      const score = (await registry.decode(message.value, { AVRO: { readerSchema } })) as Score;
      const outcome = keep(score, Number(message.offset));
      const { trans_id, decision } = score;
      const action = outcome === 'stored' ? actionFor(decision) : 'none';
      console.log(JSON.stringify({ outcome, trans_id, decision, action }));
    }
    // After the work: a crash before this line repeats the record, and the database knows its position.
    await consumer.commitOffsets([{ topic: from, partition, offset: String(BigInt(message.offset) + 1n) }]);
  },
});
