import { readdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { untilUsable } from './usable.ts';
import { Node, type KafkaNode, type NodeSetup } from './node.ts';
import { freePorts } from './ports.ts';
import { LOG4J2_PROPERTIES, LOG4J_PROPERTIES } from './properties.ts';

export interface ClusterSettings extends Omit<NodeSetup, 'classPath' | 'logging' | 'ports'> {
  /** The folder with Kafka's jars. */
  readonly jars: string;
  readonly nodes: number;
  /** For each node further listeners, by the ports that they are advertised with. */
  readonly detours: readonly (readonly number[])[];
}

export interface Cluster {
  /** `host:port` of each node. */
  readonly brokers: string[];
  readonly nodes: KafkaNode[];
}

const ATTEMPTS = 3;

/** Starts a Kafka cluster on loopback ports, each node a process, and waits until groups can be joined. */
export async function startCluster(settings: ClusterSettings): Promise<Cluster> {
  const classPath = await classPathOf(settings.jars);
  const logging = await writeLogging(settings);
  for (let attempt = 1; ; attempt += 1) {
    const ports = await freeNodePorts(settings);
    const setup = { ...settings, classPath, logging, ports };
    const nodes = await Promise.all(ports.map(async (_, index) => await Node.create(index + 1, setup)));
    try {
      await Promise.all(
        nodes.map(async (node) => {
          await node.start();
        }),
      );
      const brokers = nodes.map((node) => node.address);
      await untilUsable(brokers);
      return { brokers, nodes };
    } catch (error) {
      const races = await Promise.all(nodes.map(async (node) => await node.lostRace()));
      await Promise.all(
        nodes.map(async (node) => {
          await node.kill('SIGKILL');
        }),
      );
      if (!races.includes(true) || attempt === ATTEMPTS || settings.run.isClosing()) throw error;
    }
  }
}

async function freeNodePorts({ nodes, detours, security }: ClusterSettings): Promise<NodeSetup['ports']> {
  const listeners = security?.listeners ?? [];
  const free = await freePorts(nodes * (2 + listeners.length) + detours.flat().length);
  const further = free.slice(nodes * 2);
  return Array.from({ length: nodes }, (_, index) => ({
    broker: free[index] ?? 0,
    controller: free[nodes + index] ?? 0,
    detours: (detours[index] ?? []).map((advertised) => ({ port: further.shift() ?? 0, advertised })),
    secured: listeners.map(() => further.shift() ?? 0),
  }));
}

/** Sorted, because an archive of classes is only good for the class path it was made with. */
async function classPathOf(folder: string): Promise<string> {
  const jars = (await readdir(folder)).filter((name) => name.endsWith('.jar')).sort();
  return jars.map((name) => join(folder, name)).join(delimiter);
}

async function writeLogging({ run, version }: ClusterSettings): Promise<string> {
  const isOld = version.startsWith('3.');
  const file = join(run.folder, 'logging.properties');
  await writeFile(file, isOld ? LOG4J_PROPERTIES : LOG4J2_PROPERTIES);
  return isOld ? `-Dlog4j.configuration=file:${file}` : `-Dlog4j2.configurationFile=${file}`;
}
