import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type PostWebhook } from './webhooks.ts';

const TIMEOUT_MS = 10_000;
const CONNECTIONS = 32;

/** Posts webhooks over kept connections, at most 32 at once, 10 s each; redirects are not followed. */
export function createPostWebhook(): { readonly post: PostWebhook; readonly close: () => void } {
  const options = { keepAlive: true, maxSockets: CONNECTIONS };
  const http = new HttpAgent(options);
  const https = new HttpsAgent(options);
  const post: PostWebhook = async (url, headers, body) =>
    await new Promise((resolve) => {
      const secure = url.startsWith('https:');
      const all = { ...headers, 'content-length': String(body.length) };
      const common = { method: 'POST', headers: all, timeout: TIMEOUT_MS } as const;
      const request = secure
        ? httpsRequest(url, { ...common, agent: https })
        : httpRequest(url, { ...common, agent: http });
      request.on('response', (response) => {
        response.on('error', () => {
          resolve(null);
        });
        response.on('end', () => {
          resolve(response.statusCode ?? null);
        });
        response.on('close', () => {
          resolve(null);
        });
        response.resume();
      });
      request.on('timeout', () => request.destroy());
      request.on('error', () => {
        resolve(null);
      });
      request.end(body);
    });
  const close = (): void => {
    http.destroy();
    https.destroy();
  };
  return { post, close };
}
