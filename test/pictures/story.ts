import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { ROOT } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';

/** When the service was ill, in seconds since 1970. */
export interface Illness {
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** A demo that is under way. */
export interface Running {
  /** `http://host:port` of the operations server, and of the sandbox. */
  readonly opsUrl: string;
  readonly serviceUrl: string;
  /** Asks it to end, and waits for that. */
  readonly end: () => Promise<void>;
}

const START_LIMIT_MS = 180_000;
const WELL = { latencyMs: 20, latencyJitterMs: 20 };

/** Starts the demo with so many payments a second; resolves when its connector takes records. */
export async function startDemo(rate: number, forSeconds: number): Promise<Running> {
  const args = ['src/bin.mjs', 'demo', '--json', '--rate', String(rate), '--for', `${String(forSeconds)}s`];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
  });
  const said: string[] = [];
  const reading = (async () => {
    for await (const line of createInterface({ input: child.stderr })) said.push(line);
  })();
  const end = async (): Promise<void> => {
    child.kill('SIGTERM');
    await Promise.all([ended, reading]);
  };
  const urls = (): RegExpExecArray | null =>
    /Screening service: (\S+)\/sandbox\/ledger; status of the connector: (\S+)\/status/.exec(said.join('\n'));
  try {
    await eventually(
      'the connector of the demo takes records',
      async () => {
        if (child.exitCode !== null) throw new Error(`the demo has ended:\n${said.join('\n')}`);
        const opsUrl = urls()?.[2];
        const answer = opsUrl === undefined ? null : await fetch(`${opsUrl}/readyz/scoring`).catch(() => null);
        await answer?.body?.cancel();
        return answer?.status === 200;
      },
      START_LIMIT_MS,
    );
  } catch (error) {
    await end();
    throw error;
  }
  const [, serviceUrl = '', opsUrl = ''] = urls() ?? [];
  return { opsUrl, serviceUrl, end };
}

/** How long the service is well, ill, and well again. */
export interface Course {
  readonly wellSeconds: number;
  readonly illSeconds: number;
  readonly againSeconds: number;
}

/** Lets the service be well, answer 503, and be well again. */
export async function letBeIll(serviceUrl: string, course: Course): Promise<Illness> {
  const { wellSeconds, illSeconds, againSeconds } = course;
  await pause(wellSeconds * 1000);
  const fromSeconds = Date.now() / 1000;
  const body = JSON.stringify({ ...WELL, rules: [{ status: { code: 503 }, forMs: illSeconds * 1000 }] });
  const answer = await fetch(`${serviceUrl}/sandbox/faults`, { method: 'PUT', body });
  if (!answer.ok) throw new Error(`the sandbox refuses its faults with ${String(answer.status)}`);
  await pause((illSeconds + againSeconds) * 1000);
  return { fromSeconds, toSeconds: fromSeconds + illSeconds };
}
