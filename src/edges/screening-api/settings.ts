import { type buildConnector } from 'undici';

/** Where the screening service is and how it is spoken to. Times in milliseconds. */
export interface ScreeningApiSettings {
  /** Scheme, host, port and perhaps a path, which is kept. */
  readonly baseUrl: string;
  /** The connector's own version, for `User-Agent`. */
  readonly version: string;
  /** Scoring requests at once. */
  readonly scoringConnections: number;
  /** Batches of status updates at once. */
  readonly syncConnections: number;
  /** For a whole scoring attempt: a login, a repeat, the connection and the last byte of the body included. */
  readonly timeoutMs: number;
  /** The same for a batch of status updates. */
  readonly syncTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Opens the connections; absent: undici does, with what Node trusts. */
  readonly connect?: buildConnector.connector | undefined;
}

/** User name and password of the service account (spec: Authentication). */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** The parts of a base URL that a pool of connections asks for one by one. */
export interface Endpoint {
  readonly origin: string;
  /** Without a slash at its end. */
  readonly basePath: string;
}

/** Takes a base URL apart. */
export function toEndpoint(baseUrl: string): Endpoint {
  const { origin, pathname } = new URL(baseUrl);
  return { origin, basePath: pathname.replace(/\/+$/, '') };
}
