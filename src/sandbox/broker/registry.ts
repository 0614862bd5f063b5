import { type Archive } from './archive.ts';
import { CHILD_ENV, type Child } from './child.ts';
import { isFault } from '../../kernel/fault.ts';
import { type Jdk } from './jdk.ts';
import { freePorts, saysPortTaken } from './ports.ts';
import { type Run } from './run.ts';

const READY_LIMIT_MS = 90_000;
const ATTEMPTS = 3;

export interface RegistrySettings {
  readonly run: Run;
  readonly jdk: Jdk;
  /** The folder it was unpacked into. */
  readonly folder: string;
  readonly archive: Archive;
}

/** Starts an Apicurio registry that keeps everything in memory; the address of its Confluent-compatible interface. */
export async function startRegistry(settings: RegistrySettings): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const [port = 0, management = 0] = await freePorts(2);
    const url = `http://127.0.0.1:${String(port)}/apis/ccompat/v7`;
    try {
      await startOn(settings, url, port, management);
      return url;
    } catch (error) {
      const lostRace = isFault(error, 'CHILD_FAILED') && saysPortTaken(error.message);
      if (!lostRace || attempt === ATTEMPTS || settings.run.isClosing()) throw error;
    }
  }
}

async function startOn(settings: RegistrySettings, url: string, port: number, management: number): Promise<Child> {
  const { run, jdk, folder, archive } = settings;
  const memory = ['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  const program = [
    '-Dquarkus.http.host=127.0.0.1',
    `-Dquarkus.http.port=${String(port)}`,
    '-Dquarkus.management.host=127.0.0.1',
    `-Dquarkus.management.port=${String(management)}`,
    '-Dapicurio.rules.global.compatibility=BACKWARD',
    '-jar',
    'quarkus-run.jar',
  ];
  return await archive.starting(async ({ options, ...grace }) => {
    const child = await run.start({
      name: 'Apicurio Registry',
      command: jdk.java,
      args: [...memory, ...options, ...program],
      cwd: folder,
      env: CHILD_ENV,
      ...grace,
    });
    try {
      // The line first: another registry could answer on the port that this one did not get.
      await child.untilReady(async (output) => output.includes('Listening on') && (await answers(url)), READY_LIMIT_MS);
      return child;
    } catch (error) {
      await child.end(0);
      throw error;
    }
  });
}

async function answers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/subjects`, { signal: AbortSignal.timeout(2000) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
