import { request } from 'undici';

const TIMEOUT_MS = 500;

/** The JSON that a server on this machine answers; null: it does not answer, or not in JSON. */
export async function fetchLocalJson(url: string): Promise<unknown> {
  try {
    const { body } = await request(url, { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
    return await body.json();
  } catch {
    return null;
  }
}
