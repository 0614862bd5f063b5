import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findJdk, findMaven } from '../../src/sandbox/broker/jdk.ts';

export const LANGUAGES = ['typescript', 'python', 'java'] as const;
export type Language = (typeof LANGUAGES)[number];

/** What is read, each with its schema. */
export type Kind = 'reviews' | 'scores';

/** The interpreter of a language, and its arguments before the program, the schema and the database. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
}

/** What a reader prints of a record. */
export interface Line {
  readonly outcome: string;
  readonly trans_id: string;
  readonly decision: string;
  readonly action: string;
}

/** What a reader of reviews knows of a payment. */
export interface Row {
  readonly account: string;
  readonly trans_id: string;
  readonly event_id: string;
  readonly decision: string;
  /** Microseconds since 1970. */
  readonly reviewed_at: number;
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const ROOT = here('../../');
const SCHEMAS: Readonly<Record<Kind, string>> = {
  reviews: path.join(ROOT, 'avro/FraudReview.avsc'),
  scores: path.join(ROOT, 'avro/FraudScore.avsc'),
};
const PROGRAMS: Readonly<Record<Language, Readonly<Record<Kind, string>>>> = {
  typescript: { reviews: here('typescript/read-reviews.ts'), scores: here('typescript/read-scores.ts') },
  python: { reviews: here('python/read_reviews.py'), scores: here('python/read_scores.py') },
  java: { reviews: here('java/ReadReviews.java'), scores: here('java/ReadScores.java') },
};
/** The reader in Java has text blocks and arrows in `switch`. */
const OLDEST_JAVA = 17;
const INSTALL_LIMIT_MS = 300_000;

/** A folder of its own, away from the checkout, for what is installed and written. */
export function workFolder(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(path.join(tmpdir(), 'read-reviews-'));
  return {
    folder,
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Installs what a language's dependency file names, and says how its programs are started. Rejects with what the machine has not. */
export const INSTALL: Readonly<Record<Language, (folder: string) => Promise<Command>>> = {
  typescript: async () => {
    await Promise.resolve();
    return { program: process.execPath, args: [] };
  },
  python: async (folder) => {
    const environment = path.join(folder, 'python');
    await run('python3', ['-m', 'venv', environment], folder, 'Python 3 with its module venv (python3)');
    const program = path.join(environment, 'bin/python');
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r'];
    await run(program, [...install, here('python/requirements.txt')], folder, 'The packages of the reader in Python');
    return { program, args: [] };
  },
  java: async (folder) => {
    const [jdk, maven] = await Promise.all([findJdk(process.env), findMaven(process.env)]);
    if (jdk === undefined || jdk.major < OLDEST_JAVA || maven === undefined)
      throw new Error(`the reader in Java needs Java ${String(OLDEST_JAVA)} or newer, and Maven (mvn)`);
    const project = path.join(folder, 'java');
    mkdirSync(project);
    copyFileSync(here('java/pom.xml'), path.join(project, 'pom.xml'));
    await run(maven, ['-B', '-q', 'dependency:copy-dependencies'], project, 'The libraries of the reader in Java');
    return { program: jdk.java, args: ['-cp', path.join(project, 'lib/*')] };
  },
};

async function run(program: string, args: readonly string[], cwd: string, what: string): Promise<void> {
  try {
    await promisify(execFile)(program, args, { cwd, timeout: INSTALL_LIMIT_MS, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string };
    const said = `${stdout}\n${stderr}`.trim().split('\n').slice(-10).join('\n');
    throw new Error(`${what} could not be had: ${(error as Error).message.split('\n')[0] ?? ''}\n${said}`, {
      cause: error,
    });
  }
}

/** A reader that runs; its database is the file it was given. */
export class ReaderProcess {
  readonly lines: Line[] = [];
  readonly complaints: string[] = [];
  readonly ended: Promise<number | string | null>;
  readonly #child: ChildProcess;

  constructor(
    { program, args }: Command,
    reader: { readonly language: Language; readonly of: Kind; readonly database: string },
    env: Readonly<Record<string, string>>,
  ) {
    const { language, of, database } = reader;
    const { PATH = '', HOME = '' } = process.env;
    this.#child = spawn(program, [...args, PROGRAMS[language][of], SCHEMAS[of], database], {
      env: { PATH, HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { stdout, stderr } = this.#child;
    if (stdout !== null) createInterface({ input: stdout }).on('line', (line) => this.#read(line));
    if (stderr !== null) createInterface({ input: stderr }).on('line', (line) => this.complaints.push(line));
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        resolve(code ?? signal);
      });
    });
  }

  /** Null: it runs; a code or a signal: it has ended. */
  get end(): number | string | null {
    return this.#child.exitCode ?? this.#child.signalCode;
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | string | null> {
    this.#child.kill(signal);
    return await this.ended;
  }

  #read(line: string): void {
    this.lines.push(JSON.parse(line) as Line);
  }
}

/** What the database of a reader of reviews holds, by payment. */
export function rowsOf(database: string): readonly Row[] {
  const db = new DatabaseSync(database, { readOnly: true });
  try {
    const rows = db.prepare('select account, trans_id, event_id, decision, reviewed_at from review').all();
    return (rows as unknown as Row[]).toSorted(byPayment);
  } finally {
    db.close();
  }
}

export function byPayment(a: Row, b: Row): number {
  return a.trans_id < b.trans_id ? -1 : Number(a.trans_id > b.trans_id);
}
