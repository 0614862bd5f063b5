import { type Child } from '../../sandbox/broker/child.ts';
import { Run } from '../../sandbox/broker/run.ts';
import { type ReleaseStack } from '../../lifecycle/release-stack.ts';
import { type Stage } from './stage.ts';

export interface PerformerParts {
  readonly stage: Stage;
  /** The Node that runs this process. */
  readonly node: string;
  readonly opened: ReleaseStack;
  readonly say: (line: string) => void;
}

const GRACE_MS = 30_000;

/** The connector of a demo: a process of its own, started again when it ends unasked, as an orchestrator would. */
export class Performer {
  readonly #parts: PerformerParts;
  readonly #run: Run;
  #child: Child | null = null;
  #leaving = false;
  /** How often a signal ended it. */
  kills = 0;
  /** Why it cannot go on; null: it runs. */
  broken: string | null = null;

  /** Null while none runs. */
  get pid(): number | null {
    return this.#child?.alive === true ? (this.#child.pid ?? null) : null;
  }

  /** Where the connector's log is: the one file, whichever process writes it. */
  get logFile(): string {
    return this.#child?.logFile ?? '';
  }

  /** Ends the connector as `kill -9` does; it is started again. */
  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  private constructor(parts: PerformerParts, run: Run) {
    this.#parts = parts;
    this.#run = run;
  }

  static async start(parts: PerformerParts): Promise<Performer> {
    const run = await Run.open();
    parts.opened.push('connector', async () => {
      await run.close();
    });
    const performer = new Performer(parts, run);
    await performer.#enter();
    return performer;
  }

  /** Asks the connector to stop. Answers its exit code; null: a signal ended it. */
  async stop(): Promise<number | null> {
    this.#leaving = true;
    const ending = await this.#child?.end(GRACE_MS);
    return ending?.code ?? null;
  }

  async #enter(): Promise<void> {
    const { stage, node, say } = this.#parts;
    const child = await this.#run.start({
      name: 'connector',
      command: node,
      args: [stage.launcher, 'run'],
      cwd: this.#run.folder,
      env: stage.env,
    });
    this.#child = child;
    say(
      `The connector runs as process ${String(child.pid)} (try kill -9 ${String(child.pid)}); its log: ${child.logFile}`,
    );
    void child.ended.then(async ({ code, signal }) => {
      if (this.#leaving) return;
      if (signal === null) {
        this.broken = `The connector ended by itself (exit ${String(code)}). The last lines it wrote:\n${await child.lastLines()}`;
        return;
      }
      this.kills += 1;
      say(`The connector was ended by ${signal}; it is started again.`);
      await this.#enter();
    });
  }
}
