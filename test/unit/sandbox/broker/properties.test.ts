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

  test('have further listeners, each advertised with the port of what is in front of it', () => {
    const detours = [
      { port: 22_001, advertised: 30_001 },
      { port: 22_002, advertised: 30_002 },
    ];
    const ports = [{ broker: 20_001, controller: 21_001, detours }];
    const settings = nodeProperties({ id: 1, ports, dataFolder: '/run/data' }).split('\n');
    expect(settings).toContain(
      'listeners=PLAINTEXT://127.0.0.1:20001,CONTROLLER://127.0.0.1:21001,DETOUR1://127.0.0.1:22001,DETOUR2://127.0.0.1:22002',
    );
    expect(settings).toContain(
      'advertised.listeners=PLAINTEXT://127.0.0.1:20001,DETOUR1://127.0.0.1:30001,DETOUR2://127.0.0.1:30002',
    );
    expect(settings.join('\n')).toContain('DETOUR1:PLAINTEXT,DETOUR2:PLAINTEXT');
  });

  test('have listeners that ask who somebody is, each with settings of its own', () => {
    const ports = [{ broker: 20_001, controller: 21_001, secured: [22_001] }];
    const listeners = [{ name: 'SCRAM', protocol: 'SASL_SSL', settings: { 'ssl.client.auth': 'none' } }] as const;
    const security = { listeners, settings: { 'super.users': 'User:ANONYMOUS' } };
    const settings = nodeProperties({ id: 1, ports, dataFolder: '/run/data', security }).split('\n');
    const address = 'SCRAM://127.0.0.1:22001';
    expect(settings).toContain(`listeners=PLAINTEXT://127.0.0.1:20001,CONTROLLER://127.0.0.1:21001,${address}`);
    expect(settings).toContain(`advertised.listeners=PLAINTEXT://127.0.0.1:20001,${address}`);
    expect(settings.join('\n')).toContain('CONTROLLER:PLAINTEXT,SCRAM:SASL_SSL');
    expect(settings).toContain('listener.name.scram.ssl.client.auth=none');
    expect(settings).toContain('super.users=User:ANONYMOUS');
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
