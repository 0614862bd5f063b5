import { describe, expect, test } from 'vitest';
import { startKafka, whatIsNeeded } from '../../../../src/sandbox/broker/start.ts';

const silent = (): void => undefined;
const NOTHING = {
  env: {},
  docker: { kind: 'socket', paths: ['/var/run/docker.sock'] },
  whyNotDocker: 'no socket at /var/run/docker.sock',
  jdk: undefined,
  maven: undefined,
} as const;
const JAVA_17 = { java: '/j/bin/java', home: '/j', major: 17, version: '17.0.15' };

describe('the message for a machine without a broker', () => {
  test('names the three ways, their sizes, and what is missing of each', () => {
    expect(whatIsNeeded(NOTHING).split('\n').slice(1)).toEqual([
      '  1. Those you have: set KAFKA_BROKERS and SCHEMA_REGISTRY_URL. Here: KAFKA_BROKERS and SCHEMA_REGISTRY_URL not set.',
      '  2. Docker (images of about 500 MB, once). Here: no socket at /var/run/docker.sock.',
      '  3. Java 21 or newer and Maven (downloads of 44 and 159 MB, once). Here: no Java found; no Maven (mvn) found.',
    ]);
  });

  test('says that a Java is too old, and where it is', () => {
    const message = whatIsNeeded({ ...NOTHING, jdk: JAVA_17, maven: '/usr/bin/mvn' });
    expect(message).toContain('Java 17.0.15 found at /j, 21 or newer is needed; Maven found at /usr/bin/mvn.');
  });

  test('says which of the two addresses is missing', () => {
    const message = whatIsNeeded({ ...NOTHING, env: { KAFKA_BROKERS: 'b:9092' } });
    expect(message).toContain('Here: SCHEMA_REGISTRY_URL not set.');
  });

  test('repeats no value of the environment', () => {
    const message = whatIsNeeded({ ...NOTHING, env: { SCHEMA_REGISTRY_URL: 'http://user:secret@h' } });
    expect(message).not.toContain('secret');
  });
});

describe('a broker and a registry that are given', () => {
  const env = { KAFKA_BROKERS: ' a:9092, b:9092 ,', SCHEMA_REGISTRY_URL: 'http://r:8081/apis/ccompat/v7' };

  test('are taken as they are, and not ended', async () => {
    const kafka = await startKafka({ env, say: silent });
    expect(kafka).toMatchObject({ how: 'given', brokers: ['a:9092', 'b:9092'], registryUrl: env.SCHEMA_REGISTRY_URL });
    expect(kafka.nodes).toEqual([]);
    await kafka.stop();
  });

  test('need no registry when none is asked for', async () => {
    const kafka = await startKafka({ env: { KAFKA_BROKERS: 'a:9092' }, say: silent, registry: false });
    expect(kafka).toMatchObject({ how: 'given', registryUrl: '' });
  });
});
