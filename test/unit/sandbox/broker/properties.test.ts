import { describe, expect, test } from 'vitest';
import { CLUSTER_ID, environmentOf, nodeProperties } from '../../../../src/sandbox/broker/properties.ts';

const PORTS = [1, 2, 3].map((id) => ({ broker: 20_000 + id, controller: 21_000 + id }));

function lines(id: number, nodes: number): string[] {
  return nodeProperties({ id, ports: PORTS.slice(0, nodes), dataFolder: '/run/data' }).split('\n');
}

describe('the settings of a node', () => {
  test('are refused for a node without ports', () => {
    expect(() => lines(4, 3)).toThrow(RangeError);
  });

  test('bind to loopback only', () => {
    expect(lines(2, 3)).toContain('listeners=PLAINTEXT://127.0.0.1:20002,CONTROLLER://127.0.0.1:21002');
    expect(lines(2, 3).join('\n')).not.toContain('0.0.0.0');
  });

  test('copy nothing with one node', () => {
    expect(lines(1, 1)).toContain('offsets.topic.replication.factor=1');
    expect(lines(1, 1)).toContain('min.insync.replicas=1');
    expect(lines(1, 1)).toContain('controller.quorum.voters=1@127.0.0.1:21001');
  });

  test('survive one of three nodes', () => {
    const three = lines(3, 3);
    expect(three).toContain('offsets.topic.replication.factor=3');
    expect(three).toContain('default.replication.factor=3');
    expect(three).toContain('min.insync.replicas=2');
    expect(three).toContain('controller.quorum.voters=1@127.0.0.1:21001,2@127.0.0.1:21002,3@127.0.0.1:21003');
  });

  test('leave the size of messages and the creation of topics to those who ask', () => {
    expect(lines(1, 1)).toContain('auto.create.topics.enable=false');
    expect(lines(1, 1).join('\n')).not.toContain('message.max.bytes');
  });
});

test("are the image's variables in capitals", () => {
  expect(environmentOf({ 'node.id': 1, 'auto.create.topics.enable': false })).toEqual({
    KAFKA_NODE_ID: '1',
    KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
  });
});

test('the id of the cluster is 16 bytes', () => {
  expect(Buffer.from(CLUSTER_ID, 'base64url')).toHaveLength(16);
});
