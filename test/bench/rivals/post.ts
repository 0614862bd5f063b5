import { Pool } from 'undici';
import { SETTINGS } from './settings.ts';

const pool = new Pool(SETTINGS.url.origin, { connections: SETTINGS.concurrency, pipelining: 1 });
const headers = { 'content-type': 'application/json' };

/** Posts a record's value and reads the answer to its end; rejects for anything but success. */
export async function post(body: Buffer | null): Promise<void> {
  const answer = await pool.request({ method: 'POST', path: SETTINGS.url.pathname, headers, body });
  await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`status ${String(answer.statusCode)}`);
}
