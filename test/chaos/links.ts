import { type Clock } from '../../src/kernel/clock.ts';
import { type KafkaNode } from '../../src/sandbox/broker/node.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** Where the wires lead; they can be laid before it is known. */
export interface Ends {
  readonly nodes: readonly KafkaNode[];
  readonly registryUrl: string;
  readonly serviceUrl: string;
}

interface Wires {
  /** By node, from 1. */
  readonly nodes: readonly TcpProxy[];
  readonly registry: TcpProxy;
  readonly service: TcpProxy;
}

const NODES = 3;

/**
 * A wire from each connector to each of its neighbours: it knows no other address. The nodes have a listener for each
 * connector, which is advertised with the connector's own wire, so that what they say of each other leads through it, too.
 */
export class Links {
  readonly #wires: readonly Wires[];
  readonly #there: { ends: Ends | null };

  private constructor(wires: readonly Wires[], there: { ends: Ends | null }) {
    this.#wires = wires;
    this.#there = there;
  }

  /** Lays the wires of so many connectors. They reset every connection until `lead` says where they end. */
  static async open(connectors: number, clock: Clock): Promise<Links> {
    const there: { ends: Ends | null } = { ends: null };
    const open = async (portOf: (ends: Ends) => number | undefined): Promise<TcpProxy> => {
      const target = (): number | null => (there.ends === null ? null : (portOf(there.ends) ?? null));
      return await TcpProxy.open({ clock, target });
    };
    const wiresOf = async (connector: number): Promise<Wires> => ({
      nodes: await Promise.all(
        numbers(NODES).map(async (node) => await open(({ nodes }) => nodes[node - 1]?.detours[connector - 1])),
      ),
      registry: await open(({ registryUrl }) => portIn(registryUrl)),
      service: await open(({ serviceUrl }) => portIn(serviceUrl)),
    });
    return new Links(await Promise.all(numbers(connectors).map(wiresOf)), there);
  }

  /** By node: the ports with which its listeners must be advertised, one for each connector. */
  get detours(): readonly (readonly number[])[] {
    return numbers(NODES).map((node) => this.#wires.map(({ nodes }) => nodes[node - 1]?.port ?? 0));
  }

  lead(ends: Ends): void {
    this.#there.ends = ends;
  }

  /** What a connector has to be told so that it goes through its wires. */
  envOf(connector: number): { readonly brokers: string; readonly registryUrl: string; readonly serviceUrl: string } {
    const { nodes, registry, service } = this.#of(connector);
    const { ends } = this.#there;
    if (ends === null) throw new RangeError('the wires lead nowhere yet');
    return {
      brokers: nodes.map(({ port }) => `127.0.0.1:${String(port)}`).join(','),
      registryUrl: through(ends.registryUrl, registry),
      serviceUrl: through(ends.serviceUrl, service),
    };
  }

  toNode(connector: number, node: number): TcpProxy {
    const wire = this.#of(connector).nodes[node - 1];
    if (wire === undefined) throw new RangeError(`no wire to node ${String(node)}`);
    return wire;
  }

  toRegistry(connector: number): TcpProxy {
    return this.#of(connector).registry;
  }

  toService(connector: number): TcpProxy {
    return this.#of(connector).service;
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#wires
        .flatMap(({ nodes, registry, service }) => [...nodes, registry, service])
        .map(async (wire) => {
          await wire.close();
        }),
    );
  }

  #of(connector: number): Wires {
    const wires = this.#wires[connector - 1];
    if (wires === undefined) throw new RangeError(`no wires of connector ${String(connector)}`);
    return wires;
  }
}

function numbers(most: number): readonly number[] {
  return Array.from({ length: most }, (_, index) => index + 1);
}

function portIn(url: string): number {
  return Number(new URL(url).port);
}

function through(url: string, { port }: TcpProxy): string {
  const there = new URL(url);
  there.port = String(port);
  return there.href.replace(/\/$/u, '');
}
