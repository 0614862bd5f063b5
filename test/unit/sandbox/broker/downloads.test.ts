import { expect, test } from 'vitest';
import { pomOf, worstOf } from '../../../../src/sandbox/broker/downloads.ts';

test("the project names each part's group, artifact and version", () => {
  const pom = pomOf(['org.apache.kafka:kafka_2.13:4.3.1', 'a:b:1']);
  expect(pom).toContain(
    '<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.3.1</version>',
  );
  expect(pom.match(/<dependency>/g)).toHaveLength(2);
  expect(pom).toContain('<packaging>pom</packaging>');
});

test("Maven's errors come before its advice and its warnings", () => {
  const output = 'WARNING: a\n[ERROR] Could not transfer artifact\n[ERROR] \n[INFO] x\nlast\n';
  expect(worstOf(output)).toBe('[ERROR] Could not transfer artifact\n[ERROR] ');
});

test('the last lines are shown when Maven names no error', () => {
  expect(worstOf('one\ntwo\n\n')).toBe('one\ntwo');
  expect(worstOf('')).toBe('It printed nothing.');
});
