import { appendFileSync } from 'node:fs';

const EVERY_MS = 1000;
const file = process.env['BENCH_MEMORY_FILE'];

/** Loaded into the connector before it starts (`--import`): writes what its memory is made of to a file, each second. */
if (file !== undefined) {
  setInterval(() => {
    appendFileSync(file, `${JSON.stringify({ atMs: Date.now(), ...process.memoryUsage() })}\n`);
  }, EVERY_MS).unref();
}
