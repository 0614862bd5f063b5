import { logLevel } from 'kafkajs';
import { describe, expect, test } from 'vitest';
import { causeCode, kafkaErrorName } from '../../../../src/edges/kafka/errors.ts';
import { createLogSink } from '../../../../src/edges/kafka/log.ts';
import { backoffMs } from '../../../../src/edges/kafka/nap.ts';
import { groupRetry } from '../../../../src/edges/kafka/settings.ts';

const spanMs = (sessionTimeoutMs: number): number => {
  const { retries, initialRetryTime, multiplier, maxRetryTime } = groupRetry(sessionTimeoutMs);
  let sum = 0;
  for (let n = 0; n < retries; n += 1) sum += Math.min(maxRetryTime, initialRetryTime * multiplier ** n);
  return sum;
};

const sink = (): { said: unknown[]; crashes: string[]; write: ReturnType<typeof createLogSink> } => {
  const said: unknown[] = [];
  const crashes: string[] = [];
  const write = createLogSink(
    (_event, fields) => said.push(fields),
    (errorName) => crashes.push(errorName),
  );
  return { said, crashes, write };
};
const entry = (namespace: string, message: string, extra: Readonly<Record<string, unknown>> = {}) => ({
  namespace,
  level: logLevel.ERROR,
  label: 'ERROR',
  log: { timestamp: '', message, ...extra },
});

describe('the retries of a group member', () => {
  test('outlast the election of another coordinator', () => {
    for (const session of [6000, 10_000, 30_000, 60_000]) expect(spanMs(session)).toBeGreaterThan(10_000);
  });

  test('end before a session of 30 s does', () => {
    expect(spanMs(30_000)).toBeLessThan(20_000);
  });
});

describe("kafkajs' log", () => {
  test('lets no text through that is not on the list', () => {
    const { said, write } = sink();
    write(entry('Fetcher 3', 'a secret of host 10.0.0.1'));
    write(entry('Consumer', 'Crash: TypeError: a secret', { groupId: 'g' }));
    expect(said).toEqual([
      { severity: 'error', message: 'Fetcher: unlisted' },
      { severity: 'error', message: 'Consumer: Crash' },
    ]);
  });

  test('takes an error where a text should be', () => {
    const { said, write } = sink();
    write(entry('BrokerPool', new Error('a secret') as unknown as string));
    write(entry('Fetcher 3', new Error('a secret') as unknown as string));
    expect(said).toEqual([{ severity: 'error', message: 'Fetcher: unlisted' }]);
  });

  test('tells of a crash at the moment it begins', () => {
    const { crashes, write } = sink();
    write(entry('Consumer', 'Crash: KafkaJSError: a secret', { groupId: 'g' }));
    expect(crashes).toEqual(['KafkaJSError']);
  });

  test("names the broker's answer that made a consumer crash", () => {
    const { crashes, write } = sink();
    const text = "The group member's supported protocols are incompatible with those of existing members";
    write(entry('Consumer', `Crash: KafkaJSProtocolError: ${text}`, { groupId: 'g' }));
    expect(crashes).toEqual(['KafkaJSProtocolError INCONSISTENT_GROUP_PROTOCOL']);
  });
});

describe('the name of an error', () => {
  test("never holds the error's text", () => {
    expect(kafkaErrorName(new Error('a secret'))).toBe('Error');
    expect(kafkaErrorName('a secret')).toBe('string');
  });

  test('is the one of the innermost cause', () => {
    const cause = Object.assign(new Error('x'), { type: 'NOT_COORDINATOR_FOR_GROUP' });
    const outer = Object.assign(new Error('y', { cause }), { name: 'KafkaJSNonRetriableError' });
    expect(kafkaErrorName(outer)).toBe('KafkaJSNonRetriableError NOT_COORDINATOR_FOR_GROUP');
    expect(causeCode(Object.assign(new Error('z'), { code: 'has a text' }))).toBeNull();
  });
});

describe('backoffMs', () => {
  test('doubles up to its limit, with the upper half by chance', () => {
    expect([0, 1, 2, 50].map((failures) => backoffMs(failures, () => 0, 100, 1000))).toEqual([50, 100, 200, 500]);
    expect(backoffMs(50, () => 0.999, 100, 1000)).toBeLessThanOrEqual(1000);
  });
});
