import { describe, expect, test } from 'vitest';
import {
  addressOf,
  brokerEnvironment,
  isLeftOver,
  ownerLabel,
  startScript,
} from '../../../../src/sandbox/broker/docker.ts';

const dead = (): boolean => false;
const alive = (): boolean => true;

describe('containers left behind', () => {
  test.each([undefined, '', 'here', 'here x', 'here 0', 'here -1'])('are not those labelled %s', (label) => {
    expect(isLeftOver(label, 'here', dead)).toBe(false);
  });

  test('are not those of a living process, nor of another machine', () => {
    expect(isLeftOver(ownerLabel('here', 77), 'here', alive)).toBe(false);
    expect(isLeftOver(ownerLabel('there', 77), 'here', dead)).toBe(false);
  });

  test('are those of a process of this machine that has died', () => {
    expect(isLeftOver(ownerLabel('here', 77), 'here', (pid) => pid !== 77)).toBe(true);
  });
});

test('the broker says the address that is known only after the start', () => {
  expect(brokerEnvironment()).not.toHaveProperty('KAFKA_ADVERTISED_LISTENERS');
  expect(startScript('127.0.0.1:32771')).toContain('KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:32771,BROKER://');
});

test('the broker has the settings of a single node', () => {
  expect(brokerEnvironment()).toMatchObject({
    KAFKA_NODE_ID: '1',
    KAFKA_PROCESS_ROLES: 'broker,controller',
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
  });
});

test('a published port is reached by an address of version 4', () => {
  expect(addressOf('localhost', 1)).toBe('127.0.0.1:1');
  expect(addressOf('172.17.0.1', 1)).toBe('172.17.0.1:1');
});
