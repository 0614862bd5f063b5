import { type Config } from '../../config/config.ts';
import { isLoopback } from '../../config/loopback.ts';
import { isWeak } from '../../edges/schema-registry/subjects.ts';
import { type HttpNeighbour } from '../../kernel/emit.ts';
import { connectionTrouble } from './connection-trouble.ts';
import { kafkaFindings } from './kafka-findings.ts';
import { EXPIRY_WARNING_DAYS } from '../followed-certificate.ts';
import { type Finding, ok, skipped, warn, wrong } from './finding.ts';
import { type LoginSeen, type NotSeen, type PortSeen, type Seen, type SubjectSeen } from './seen.ts';

/** A clock that is out by a second or two says nothing: the service tells its time to the second. */
const CLOCK_SLACK_MS = 3000;

/** What is to be said of what was seen, in the order in which it should be mended. */
export function findingsOf(config: Config, seen: Seen): readonly Finding[] {
  return [
    ...kafkaFindings(config, seen.kafka),
    ...registryFindings(seen.registry),
    ...serviceFindings(config, seen.service),
    ...seen.ports.map((port) => portFinding(port, seen.connectorRuns)),
    ...opsFindings(config),
  ];
}

function registryFindings(seen: Seen['registry']): readonly Finding[] {
  if (seen === null) return [skipped('registry', 'schemas: the flows of this configuration write none')];
  if ('failed' in seen)
    return [
      unreached('registry', seen, {
        check: 'registry',
        text: 'the schema registry does not answer',
        mend: 'look at the registry, at SCHEMA_REGISTRY_URL (its path counts) and at its user name',
      }),
      skipped('schemas', 'schemas (the registry does not answer)'),
    ];
  return [ok('registry', 'the schema registry answers'), ...seen.map(schemaFinding), ...seen.flatMap(levelFindings)];
}

function unreached(
  neighbour: HttpNeighbour,
  { failed }: NotSeen,
  { check, text, mend }: { readonly check: string; readonly text: string; readonly mend: string },
): Finding {
  const trouble = connectionTrouble(neighbour, failed);
  if (trouble === null) return wrong(check, `${text}: ${failed}`, mend);
  return wrong(check, `${text}: ${trouble.text} (${failed})`, trouble.mend);
}

/** A subject that is new has nothing to be compared with yet. */
function levelFindings({ subject, standing, level }: SubjectSeen): readonly Finding[] {
  if (standing === 'new' || level === null || !isWeak(level)) return [];
  return [
    warn(
      'compatibility',
      `subject ${subject}: compatibility ${level} takes schemas that cannot read older records`,
      'npx fraud-connector schemas register --compatibility FULL_TRANSITIVE',
    ),
  ];
}

function schemaFinding({ subject, standing }: SubjectSeen): Finding {
  const register = 'npx fraud-connector schemas register';
  switch (standing) {
    case 'registered':
      return ok('schemas', `schema of ${subject}: registered`);
    case 'new':
      return wrong('schemas', `schema of ${subject}: nothing is registered`, register);
    case 'older':
      return wrong('schemas', `schema of ${subject}: an older one is registered, ours fits it`, register);
    case 'refused':
      return wrong(
        'schemas',
        `schema of ${subject}: what is registered does not go with ours`,
        'docs/schemas.md says how to change a schema',
      );
  }
}

function serviceFindings(config: Config, seen: LoginSeen | NotSeen | null): readonly Finding[] {
  if (seen === null) return [skipped('login', 'login at the service: reviews alone needs none')];
  if ('failed' in seen)
    return [
      unreached('service', seen, {
        check: 'login',
        text: 'the screening service does not answer',
        mend: 'look at SERVICE_BASE_URL and at the network between',
      }),
      skipped('clock', 'clock (the service does not answer)'),
    ];
  return [loginFinding(seen), clockFinding(config, seen.aheadMs)];
}

function loginFinding({ status, hasToken }: LoginSeen): Finding {
  if (hasToken) return ok('login', 'login at the screening service: done; nothing was scored');
  if (status === 200)
    return wrong(
      'login',
      'login at the screening service: answered without a token',
      'look at the path of SERVICE_BASE_URL: is it this service?',
    );
  if (status === 401 || status === 403)
    return wrong(
      'login',
      `login at the screening service: refused (status ${String(status)})`,
      'give the right SERVICE_USERNAME and SERVICE_PASSWORD',
    );
  const why = `login at the screening service: status ${String(status)}`;
  return status >= 500 || status === 429
    ? wrong('login', why, 'the service is ill: try again later')
    : wrong('login', why, 'look at SERVICE_BASE_URL and its path');
}

function clockFinding({ flows, webhook }: Config, aheadMs: number | null): Finding {
  if (aheadMs === null) return skipped('clock', 'clock (the service does not tell the time)');
  const seconds = String(Math.round(Math.abs(aheadMs) / 1000));
  if (Math.abs(aheadMs) <= CLOCK_SLACK_MS) return ok('clock', "clock: as the service's");
  const text = `clock: ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} the service's`;
  const mend = 'set the clock of this machine (NTP)';
  const isOutside = flows.has('reviews') && Math.abs(aheadMs) > webhook.toleranceSeconds * 1000;
  if (!isOutside) return warn('clock', text, mend);
  return wrong(
    'clock',
    `${text}: webhooks are refused beyond WEBHOOK_TOLERANCE_SECONDS (${String(webhook.toleranceSeconds)})`,
    mend,
  );
}

function portFinding({ option, host, port, error }: PortSeen, connectorRuns: boolean): Finding {
  const what = `${option}: ${host}:${String(port)}`;
  if (error === null) return ok('ports', `${what} can be listened on`);
  if (error === 'EADDRINUSE' && connectorRuns) return ok('ports', `${what} is taken: a connector runs on this machine`);
  const mend =
    error === 'EADDRNOTAVAIL'
      ? `give a host of this machine as ${option.replace('PORT', 'HOST')}`
      : `give another ${option}`;
  return wrong('ports', `${what} cannot be listened on: ${error}`, mend);
}

/** Whose certificate something is said of. */
export interface CertificateNames {
  readonly check: string;
  readonly option: string;
}

const OF_WEBHOOKS: CertificateNames = { check: 'webhook_tls', option: 'WEBHOOK_TLS_CERT_FILE' };

/** What is to be said of a certificate of ours, unless told the webhook port's; below 0: it has expired. */
export function certificateFinding(daysLeft: number, { check, option }: CertificateNames = OF_WEBHOOKS): Finding {
  const mend = 'put a new certificate and its key into the two files; a running connector reads them by itself';
  if (daysLeft < 0) return wrong(check, `${option}: the certificate has expired`, mend);
  const text = `${option}: the certificate and its key fit; it expires in ${String(daysLeft)} days`;
  return daysLeft < EXPIRY_WARNING_DAYS ? warn(check, text, mend) : ok(check, text);
}

function opsFindings({ ops }: Config): readonly Finding[] {
  if (isLoopback(ops.host)) return [];
  return [
    warn(
      'ops_host',
      `OPS_HOST: ${ops.host}: /status and /metrics can be read by whoever reaches this machine`,
      'let only your monitoring reach the port',
    ),
  ];
}
