import { type Config } from '../../config/config.ts';
import { type Certificate } from '../../edges/http-server/certificate.ts';
import { ownVersion } from '../../edges/system/package-info.ts';
import { type Terminal } from '../../edges/system/terminal.ts';
import { type Clock } from '../../kernel/clock.ts';
import { type Finding, linesOf, ok, warn } from './finding.ts';
import { type CertificateNames, certificateFinding, findingsOf } from './findings.ts';
import { look } from './look.ts';
import { daysLeft } from '../followed-certificate.ts';
import { Secrets } from '../secrets.ts';

export interface DoctorParts {
  readonly config: Config;
  /** What is odd about the configuration. */
  readonly warnings: readonly string[];
  /** Of the webhook port; null: it speaks plain HTTP. */
  readonly certificate: Certificate | null;
  readonly terminal: Pick<Terminal, 'say'>;
  readonly clock: Clock;
  readonly json: boolean;
  /** What `--env-file` was given, so that commands to type have it, too; null: it was not. */
  readonly envFile: string | null;
}

const TO_SERVICE: CertificateNames = { check: 'service_tls', option: 'SERVICE_TLS_CERT_FILE' };

/** Looks at everything that `run` needs and says what is wrong and what to do. 0: nothing is wrong; 1: something is. */
export async function runDoctor(parts: DoctorParts): Promise<number> {
  const { config, warnings, certificate, terminal, clock, json, envFile } = parts;
  const seen = await look({ config, clock, userAgent: `fraud-screening-connector/${ownVersion()}` });
  const shown = new Secrets(config).serviceTls.now().pair;
  const findings = [
    ok('configuration', `configuration: flows ${[...config.flows].join(', ')}, account ${config.account}`),
    ...warnings.map((warning) => warn('configuration', warning, 'npx fraud-connector config print')),
    ...findingsOf(config, seen),
    ...(certificate === null ? [] : [certificateFinding(daysLeft(certificate, clock.nowMs()))]),
    ...(shown === null ? [] : [certificateFinding(daysLeft(shown, clock.nowMs()), TO_SERVICE)]),
  ];
  tell(
    findings.map((finding) => withEnvFile(finding, envFile)),
    { terminal, json },
  );
  return findings.some(({ state }) => state === 'wrong') ? 1 : 0;
}

function withEnvFile(finding: Finding, envFile: string | null): Finding {
  const { check, state, text, mend } = finding;
  const isCommand = mend?.startsWith('npx fraud-connector ') === true;
  return isCommand && envFile !== null ? { check, state, text, mend: `${mend} --env-file ${envFile}` } : finding;
}

/** Prints findings: as lines and a sum for a person, or as one JSON object. */
export function tell(
  findings: readonly Finding[],
  { terminal, json }: { readonly terminal: Pick<Terminal, 'say'>; readonly json: boolean },
): void {
  const count = (state: Finding['state']): number => findings.filter((finding) => finding.state === state).length;
  const wrong = count('wrong');
  if (json) {
    terminal.say(JSON.stringify({ ok: wrong === 0, findings }, null, 2));
    return;
  }
  for (const line of linesOf(findings)) terminal.say(line);
  const warnings = count('warning');
  terminal.say('');
  terminal.say(
    wrong === 0
      ? `Nothing is wrong${warnings === 0 ? '' : `; ${String(warnings)} to think about (!)`}.`
      : `${String(wrong)} to mend (✗)${warnings === 0 ? '' : `, ${String(warnings)} to think about (!)`}.`,
  );
}
