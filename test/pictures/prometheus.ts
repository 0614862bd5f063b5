import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from '../../src/sandbox/broker/ports.ts';
import { findPrometheus } from '../support/deploy-tools.ts';
import { eventually } from '../support/eventually.ts';

/** A line of a panel: its labels, and values by seconds since 1970. */
export interface Line {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly (readonly [atSeconds: number, value: number])[];
}

/** From, to, and between two points. */
export interface Range {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly stepSeconds: number;
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [number, string])[];
    }[];
  };
}

const START_LIMIT_MS = 60_000;

/** A Prometheus of its own that reads one connector, with its data in a folder that goes when it is stopped. */
export class Prometheus {
  readonly #url: string;
  readonly #stop: () => Promise<void>;

  private constructor(url: string, stop: () => Promise<void>) {
    this.#url = url;
    this.#stop = stop;
  }

  /** Starts it. `target`: host and port of the operations server; every `everySeconds` it is read. */
  static async start(target: string, everySeconds: number): Promise<Prometheus> {
    const { prometheus } = await findPrometheus();
    const [port = 0] = await freePorts(1);
    const folder = await mkdtemp(path.join(tmpdir(), 'fraud-connector-pictures-'));
    const config = path.join(folder, 'prometheus.yaml');
    const job = {
      job_name: 'fraud-screening-connector',
      static_configs: [{ targets: [target], labels: { account: 'demo' } }],
    };
    const every = `${String(everySeconds)}s`;
    // JSON is YAML, too.
    await writeFile(
      config,
      JSON.stringify({ global: { scrape_interval: every, scrape_timeout: every }, scrape_configs: [job] }),
    );
    const url = `127.0.0.1:${String(port)}`;
    const flags = [`--config.file=${config}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${url}`];
    const child = spawn(prometheus, [...flags, '--log.level=error'], { stdio: ['ignore', 'ignore', 'inherit'] });
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => {
        resolve();
      });
    });
    const started = new Prometheus(`http://${url}`, async () => {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    });
    try {
      await eventually('Prometheus is ready', async () => await started.#isReady(), START_LIMIT_MS);
    } catch (error) {
      await started.stop();
      throw error;
    }
    return started;
  }

  /** The lines that an expression gives over a range. */
  async query(expression: string, { fromSeconds, toSeconds, stepSeconds }: Range): Promise<readonly Line[]> {
    const parameters = new URLSearchParams({
      query: expression,
      start: String(fromSeconds),
      end: String(toSeconds),
      step: String(stepSeconds),
    });
    const response = await fetch(`${this.#url}/api/v1/query_range?${parameters.toString()}`);
    const { status, error, data } = (await response.json()) as Answer;
    if (status !== 'success') throw new Error(`Prometheus refuses ${expression}: ${error ?? status}`);
    return (data?.result ?? []).map(({ metric, values }) => ({
      labels: metric,
      points: values.map(([at, value]) => [at, Number(value)] as const),
    }));
  }

  async stop(): Promise<void> {
    await this.#stop();
  }

  async #isReady(): Promise<boolean> {
    const answer = await fetch(`${this.#url}/-/ready`).catch(() => null);
    await answer?.body?.cancel();
    return answer?.status === 200;
  }
}
