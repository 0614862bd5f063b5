import { type Config } from '../config/config.ts';
import { TRANSACTION_PATH } from '../edges/screening-api/request.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { type OpenTracing } from '../kernel/tracing.ts';
import { type Secrets } from './secrets.ts';

/** How long the last export may take when the connector stops; part of the drain. */
export const LAST_EXPORT_MS = 2000;

export interface TracingParts {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly version: string;
  readonly clock: Clock;
  readonly emit: Emit;
}

/** Tracing as it is configured; null: it is off, and then its library is not even loaded. */
export async function tracingOf({ config, secrets, ...deps }: TracingParts): Promise<OpenTracing | null> {
  const { tracing: settings, account, kafka, service, webhook } = config;
  if (settings === null) return null;
  // The only import of that folder, be it of types: what is imported for its types alone is loaded all the same.
  const { openTracing } = await import('../edges/otel/tracing.ts');
  return openTracing({
    settings,
    account,
    places: {
      group: kafka.groupId,
      service: placeOf(service.baseUrl),
      webhook: { path: webhook.path, scheme: webhook.tls === null ? 'http' : 'https' },
    },
    headers: () => secrets.traceHeaders(),
    ...deps,
  });
}

/** Empty where no flow calls the service. */
function placeOf(baseUrl: string): {
  readonly url: string;
  readonly address: string;
  readonly port: number;
  readonly path: string;
} {
  if (baseUrl === '') return { url: '', address: '', port: 0, path: TRANSACTION_PATH };
  const { hostname, port, protocol } = new URL(baseUrl);
  const standard = protocol === 'https:' ? 443 : 80;
  return {
    url: `${baseUrl}${TRANSACTION_PATH}`,
    address: hostname,
    port: port === '' ? standard : Number(port),
    path: TRANSACTION_PATH,
  };
}
