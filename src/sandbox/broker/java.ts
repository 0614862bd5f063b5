import { Archive } from './archive.ts';
import { Cache, cacheFolder } from './cache.ts';
import { type Cluster, startCluster } from './cluster.ts';
import {
  cacheName,
  type Fetching,
  fetchKafka,
  fetchRegistry,
  type KafkaVersion,
  REGISTRY_VERSION,
} from './downloads.ts';
import { type Jdk } from './jdk.ts';
import { type KafkaNode } from './node.ts';
import { type Security } from './properties.ts';
import { startRegistry } from './registry.ts';
import { Run } from './run.ts';

export interface JavaOptions {
  readonly jdk: Jdk;
  readonly maven: string | undefined;
  readonly version: KafkaVersion;
  readonly nodes: number;
  readonly registry: boolean;
  readonly detours: readonly (readonly number[])[];
  readonly security?: Security | undefined;
  readonly say: (line: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface OnJava {
  readonly brokers: string[];
  /** Empty without a registry. */
  readonly registryUrl: string;
  readonly nodes: KafkaNode[];
  stop(): Promise<void>;
}

/** Fetches what is missing and starts Kafka and the registry as processes of this machine, side by side. */
export async function startOnJava(options: JavaOptions): Promise<OnJava> {
  const { jdk, version, say } = options;
  const run = await Run.open();
  const cache = new Cache(cacheFolder(options.env));
  const fetching: Fetching = { cache, run, jdk, maven: options.maven, say, env: options.env };
  const archives: Archive[] = [];
  const archiveOf = async (program: string, jars: string): Promise<Archive> => {
    const archive = await Archive.find({ cache, run, jdk, program, jars });
    archives.push(archive);
    return archive;
  };
  const kafka = async (): Promise<Cluster> => {
    const jars = await fetchKafka(version, fetching);
    const archive = await archiveOf(cacheName('kafka', version), jars);
    const { nodes, detours, security } = options;
    return await startCluster({ run, cache, jdk, version, jars, nodes, detours, security, archive, say });
  };
  const registry = async (): Promise<string> => {
    if (!options.registry) return '';
    const folder = await fetchRegistry(fetching);
    const archive = await archiveOf(cacheName('registry', REGISTRY_VERSION), folder);
    return await startRegistry({ run, jdk, folder, archive });
  };
  const both = [kafka(), registry()] as const;
  try {
    const [cluster, registryUrl] = await Promise.all(both);
    const stop = async (): Promise<void> => {
      await run.close(async () => {
        // An archive only saves time: a full disk is no reason to fail at the end.
        await Promise.allSettled(
          archives.map(async (archive) => {
            await archive.keep();
          }),
        );
      });
    };
    return { ...cluster, registryUrl, stop };
  } catch (error) {
    // The other one may be in the middle of a download: it ends with the run.
    await run.close();
    await Promise.allSettled(both);
    throw error;
  }
}
