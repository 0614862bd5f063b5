/** The ports of one node, on the loopback address. */
export interface NodePorts {
  readonly broker: number;
  readonly controller: number;
  /** Further listeners; none unless told. */
  readonly detours?: readonly Detour[];
  /** Of the listeners of `Security`, in its order. */
  readonly secured?: readonly number[];
}

/** A listener that asks who somebody is, or speaks TLS, beside the plain one: for tests. */
export interface SecuredListener {
  /** Letters. */
  readonly name: string;
  readonly protocol: 'SSL' | 'SASL_SSL' | 'SASL_PLAINTEXT';
  /** Settings of this listener, without `listener.name.<name>.` before them. */
  readonly settings: Settings;
}

/** Of every node of a cluster. */
export interface Security {
  readonly listeners: readonly SecuredListener[];
  /** Of the broker as a whole, such as its authorizer. */
  readonly settings?: Settings;
  /** Options of Java's. */
  readonly java?: readonly string[];
}

/** A listener whose clients are told to come back by the port of something in front of it, such as a proxy. */
export interface Detour {
  readonly port: number;
  readonly advertised: number;
}

export interface NodeSettings {
  /** From 1. */
  readonly id: number;
  /** The ports of all nodes, by id from 1. */
  readonly ports: readonly NodePorts[];
  readonly dataFolder: string;
  readonly security?: Security | undefined;
}

/** Settings of Kafka's, by name. */
export type Settings = Readonly<Record<string, string | number | boolean>>;

/** 16 bytes in base64, as Kafka wants it. A constant, so that formatted folders can be kept. */
export const CLUSTER_ID = 'c2NyZWVuaW5nLWJyb2tlcg';

/**
 * The server.properties of a node that is broker and controller in one. Static voters, because then nothing about ports
 * is written into the data folder, and a formatted folder can be kept for the next run.
 */
export function nodeProperties({ id, ports, dataFolder, security }: NodeSettings): string {
  const own = ports[id - 1];
  if (own === undefined) throw new RangeError(`no ports for node ${String(id)}`);
  const detours = (own.detours ?? []).map(({ port, advertised }, index) => ({
    name: `DETOUR${String(index + 1)}`,
    protocol: 'PLAINTEXT',
    port,
    advertised,
  }));
  const secured = (security?.listeners ?? []).map(({ name, protocol }, index) => {
    const port = own.secured?.[index] ?? 0;
    return { name, protocol, port, advertised: port };
  });
  const further = [...detours, ...secured];
  const more = (text: (listener: (typeof further)[number]) => string): string =>
    further.map((listener) => `,${text(listener)}`).join('');
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': id,
    'controller.quorum.voters': ports
      .map((each, index) => `${String(index + 1)}@127.0.0.1:${String(each.controller)}`)
      .join(','),
    listeners: `PLAINTEXT://127.0.0.1:${String(own.broker)},CONTROLLER://127.0.0.1:${String(own.controller)}${more(({ name, port }) => `${name}://127.0.0.1:${String(port)}`)}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${String(own.broker)}${more(({ name, advertised }) => `${name}://127.0.0.1:${String(advertised)}`)}`,
    'listener.security.protocol.map': `PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT${more(({ name, protocol }) => `${name}:${protocol}`)}`,
    'inter.broker.listener.name': 'PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': dataFolder,
    ...sharedSettings(ports.length),
    ...securitySettings(security),
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${String(value)}\n`)
    .join('');
}

function securitySettings(security: Security | undefined): Settings {
  const ofListeners = (security?.listeners ?? []).flatMap(({ name, settings }) =>
    Object.entries(settings).map(([setting, value]) => [`listener.name.${name.toLowerCase()}.${setting}`, value]),
  );
  return { ...(Object.fromEntries(ofListeners) as Settings), ...security?.settings };
}

/** What holds for every node of a cluster of `nodes`, whichever way it is started. */
export function sharedSettings(nodes: number): Settings {
  const inSync = nodes > 1 ? 2 : 1;
  return {
    'default.replication.factor': nodes,
    'min.insync.replicas': inSync,
    'offsets.topic.num.partitions': nodes,
    'offsets.topic.replication.factor': nodes,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.replication.factor': nodes,
    'transaction.state.log.min.isr': inSync,
    'share.coordinator.state.topic.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': nodes,
    'share.coordinator.state.topic.min.isr': inSync,
    // The defaults let a group of one wait 3 s, and refuse sessions under 6 s.
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1000,
    // The default of 128 MiB does not fit the small heap.
    'log.cleaner.dedupe.buffer.size': 2_097_152,
    'num.network.threads': 2,
    'num.io.threads': 4,
    'background.threads': 2,
    // Else a topic that is missing appears by itself, with one partition.
    'auto.create.topics.enable': false,
    ...(nodes > 1
      ? {
          'broker.heartbeat.interval.ms': 500,
          // 3 s would do on an idle machine; a loaded one fences healthy brokers.
          'broker.session.timeout.ms': 6000,
          'replica.lag.time.max.ms': 5000,
        }
      : {}),
  };
}

/** The same as variables of the image's: `node.id` is KAFKA_NODE_ID. */
export function environmentOf(settings: Settings): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      `KAFKA_${name.toUpperCase().replaceAll('.', '_')}`,
      String(value),
    ]),
  );
}

/** What Kafka prints: INFO, because the line that says it is ready is of that level. */
export const LOG4J2_PROPERTIES: string = [
  'appender.stdout.type=Console',
  'appender.stdout.name=STDOUT',
  'appender.stdout.layout.type=PatternLayout',
  'appender.stdout.layout.pattern=%d{HH:mm:ss.SSS} %p %m (%c{1})%n',
  'rootLogger.level=INFO',
  'rootLogger.appenderRefs=stdout',
  'rootLogger.appenderRef.stdout.ref=STDOUT',
  '',
].join('\n');

/** The same for Kafka before 4.0, which logs with the older library. */
export const LOG4J_PROPERTIES: string = [
  'log4j.rootLogger=INFO, stdout',
  'log4j.appender.stdout=org.apache.log4j.ConsoleAppender',
  'log4j.appender.stdout.layout=org.apache.log4j.PatternLayout',
  'log4j.appender.stdout.layout.ConversionPattern=%d{HH:mm:ss,SSS} %p %m (%c{1})%n',
  '',
].join('\n');
