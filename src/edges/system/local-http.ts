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

/** The text that a server on this machine answers with 200; null: it does not answer, or not with 200. */
export async function fetchLocalText(url: string): Promise<string | null> {
  try {
    const { body, statusCode } = await request(url, { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
    const text = await body.text();
    return statusCode === 200 ? text : null;
  } catch {
    return null;
  }
}
