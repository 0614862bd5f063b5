import { readdir, readFile, readlink } from 'node:fs/promises';

/** What one life of a connector takes up at one moment. */
export interface Vitals {
  readonly owner: string;
  /** `performance.now()`. */
  readonly atMs: number;
  readonly residentBytes: number;
  /** Null: it did not say. */
  readonly heapBytes: number | null;
  /** Open file descriptors, sockets among them. */
  readonly files: number;
  readonly sockets: number;
  /** Of the sockets, those of the pool of connections to the service: open, and bounded by its size. */
  readonly pooled: number;
}

const PAGE_BYTES = 4096;
const ASK_LIMIT_MS = 2000;
const SOCKET = /^socket:\[(\d+)\]$/u;
const ESTABLISHED = '01';
const HEAP = /^nodejs_heap_size_used_bytes(?:\{[^}]*\})? (\S+)$/mu;

/** The memory of a process; 0 where it has ended. */
export async function residentBytes(pid: number | undefined): Promise<number> {
  const statm = await readFile(`/proc/${String(pid ?? 0)}/statm`, 'utf8').catch(() => '');
  return Number(statm.split(' ')[1] ?? 0) * PAGE_BYTES;
}

/** What a process takes up, as the system and its own metrics say; null where it has ended. */
export async function vitalsOf(life: {
  readonly owner: string;
  readonly pid: number | undefined;
  readonly opsUrl: string;
  /** The port at which it finds the service. */
  readonly servicePort: number;
  readonly atMs: number;
}): Promise<Vitals | null> {
  const { owner, pid, opsUrl, servicePort, atMs } = life;
  const [resident, heapBytes, handles] = await Promise.all([
    residentBytes(pid),
    heapOf(opsUrl),
    handlesOf(pid, servicePort),
  ]);
  if (resident === 0 || handles === null) return null;
  return { owner, atMs, residentBytes: resident, heapBytes, ...handles };
}

async function heapOf(opsUrl: string): Promise<number | null> {
  try {
    const answer = await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(ASK_LIMIT_MS) });
    const found = HEAP.exec(await answer.text())?.[1];
    return found === undefined ? null : Number(found);
  } catch {
    return null;
  }
}

async function handlesOf(
  pid: number | undefined,
  servicePort: number,
): Promise<Pick<Vitals, 'files' | 'sockets' | 'pooled'> | null> {
  const folder = `/proc/${String(pid ?? 0)}/fd`;
  const files = await readdir(folder).catch(() => null);
  if (files === null) return null;
  // One that was closed meanwhile leads nowhere.
  const targets = await Promise.all(files.map(async (file) => await readlink(`${folder}/${file}`).catch(() => '')));
  const sockets = targets.flatMap((target) => SOCKET.exec(target)?.[1] ?? []);
  const pool = openTo(servicePort, await readFile(`/proc/${String(pid ?? 0)}/net/tcp`, 'utf8').catch(() => ''));
  return { files: files.length, sockets: sockets.length, pooled: sockets.filter((inode) => pool.has(inode)).length };
}

/** Of the system's table of connections, the sockets that are open to a port. */
export function openTo(port: number, table: string): ReadonlySet<string> {
  const to = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/u));
  return new Set(
    rows.flatMap(([, , remote, state, , , , , , inode]) =>
      remote?.endsWith(to) === true && state === ESTABLISHED && inode !== undefined ? [inode] : [],
    ),
  );
}
