import { access, constants } from 'node:fs/promises';
import { request, type RequestOptions } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where a Docker engine may listen. */
export type DockerAddress =
  | { readonly kind: 'socket'; readonly paths: readonly string[] }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls: boolean }
  | { readonly kind: 'other'; readonly scheme: string };

const PING_LIMIT_MS = 1500;

/** What DOCKER_HOST says, else the usual sockets of Docker, Docker Desktop, Colima and rootless engines. */
export function dockerAddress(env: Readonly<Record<string, string | undefined>>): DockerAddress {
  const given = env['DOCKER_HOST'] ?? '';
  if (given !== '') return addressOf(given, (env['DOCKER_TLS_VERIFY'] ?? '') !== '');
  const home = env['HOME'] ?? homedir();
  const runtime = env['XDG_RUNTIME_DIR'] ?? '';
  return {
    kind: 'socket',
    paths: [
      '/var/run/docker.sock',
      ...(runtime === '' ? [] : [join(runtime, 'docker.sock')]),
      join(home, '.docker/run/docker.sock'),
      join(home, '.colima/default/docker.sock'),
    ],
  };
}

function addressOf(given: string, tls: boolean): DockerAddress {
  if (given.startsWith('unix://')) return { kind: 'socket', paths: [given.slice('unix://'.length)] };
  const url = URL.parse(given);
  const scheme = url === null ? 'no URL' : url.protocol.replace(':', '');
  if (url === null || (scheme !== 'tcp' && scheme !== 'http')) return { kind: 'other', scheme };
  return { kind: 'tcp', host: url.hostname, port: Number(url.port === '' ? '2375' : url.port), tls };
}

/** Undefined when an engine answers at `address`, else why containers cannot be used; within two seconds. */
export async function whyNoDocker(address: DockerAddress): Promise<string | undefined> {
  switch (address.kind) {
    case 'other':
      return `DOCKER_HOST is of a kind that is not understood (${address.scheme})`;
    case 'tcp':
      // Asking an engine behind TLS needs its certificates: whether it answers is found out by using it.
      if (address.tls || (await answersPing({ host: address.host, port: address.port }))) return undefined;
      return `no engine answers at ${address.host}:${String(address.port)} (DOCKER_HOST)`;
    case 'socket':
      return await whyNoSocket(address.paths);
  }
}

async function whyNoSocket(paths: readonly string[]): Promise<string | undefined> {
  let why = `no socket at ${paths[0] ?? ''}`;
  for (const socketPath of paths) {
    const problem = await access(socketPath, constants.R_OK | constants.W_OK).then(
      () => 'ok',
      (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown'),
    );
    if (problem === 'ENOENT') continue;
    if (problem === 'ok' && (await answersPing({ socketPath }))) return undefined;
    why = problem === 'EACCES' ? `no right to use ${socketPath}` : `no engine answers at ${socketPath}`;
  }
  return why;
}

async function answersPing(where: Pick<RequestOptions, 'host' | 'port' | 'socketPath'>): Promise<boolean> {
  return await new Promise((resolve) => {
    const asked = request({ ...where, path: '/_ping', agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    const timer = setTimeout(() => asked.destroy(), PING_LIMIT_MS);
    asked.once('error', () => {
      resolve(false);
    });
    asked.once('close', () => {
      clearTimeout(timer);
      resolve(false);
    });
    asked.end();
  });
}
