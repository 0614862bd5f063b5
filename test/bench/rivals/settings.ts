import kafkajs from 'kafkajs';

/** What every rival is told, by its environment. */
export interface Settings {
  readonly topic: string;
  readonly partitions: number;
  /** Where each record's value is posted to. */
  readonly url: URL;
  /** Requests at once. */
  readonly concurrency: number;
  readonly commitMs: number;
}

function needed(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is missing`);
  return value;
}

/** The settings of this process. */
export const SETTINGS: Settings = {
  topic: needed('TOPIC'),
  partitions: Number(needed('PARTITIONS')),
  url: new URL(needed('URL')),
  concurrency: Number(needed('CONCURRENCY')),
  commitMs: Number(needed('COMMIT_MS')),
};

/** A consumer of the group this process was told of. */
export async function openConsumer(): Promise<kafkajs.Consumer> {
  const client = new kafkajs.Kafka({ brokers: [needed('BROKER')], logLevel: kafkajs.logLevel.ERROR });
  const consumer = client.consumer({ groupId: needed('GROUP'), sessionTimeout: 30_000, maxWaitTimeInMs: 200 });
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0));
  await consumer.connect();
  await consumer.subscribe({ topic: SETTINGS.topic, fromBeginning: true });
  return consumer;
}
