import { authoritiesProblem, certificateProblem, keyProblem, readKeyPair } from './pem.ts';
import { type Rule } from './rule.ts';
import { type OptionName, type Values } from './values.ts';

/** A text that was read from a file, and where, so that it can be read again. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** The files of one use of TLS; null: not given. Certificate and key are both given or both not. */
export interface TlsFiles {
  /** Trusted instead of those that Node brings. */
  readonly authorities: TextFile | null;
  readonly certificate: TextFile | null;
  readonly key: TextFile | null;
}

/** Options whose value is the text of a file in PEM. */
export type PemOption = { [N in OptionName]: N extends `${string}_TLS_${string}_FILE` ? N : never }[OptionName];

/** The options of one use of TLS; null: there is none. */
export interface TlsOptions {
  readonly authorities: PemOption | null;
  readonly certificate: PemOption | null;
  readonly key: PemOption | null;
}

/** TLS of the webhook port. */
export const WEBHOOK_TLS = {
  authorities: null,
  certificate: 'WEBHOOK_TLS_CERT_FILE',
  key: 'WEBHOOK_TLS_KEY_FILE',
} as const satisfies TlsOptions;
/** TLS towards the screening service. */
export const SERVICE_TLS = {
  authorities: 'SERVICE_TLS_CA_FILE',
  certificate: 'SERVICE_TLS_CERT_FILE',
  key: 'SERVICE_TLS_KEY_FILE',
} as const satisfies TlsOptions;
/** TLS towards the schema registry. */
export const REGISTRY_TLS = {
  authorities: 'SCHEMA_REGISTRY_TLS_CA_FILE',
  certificate: null,
  key: null,
} as const satisfies TlsOptions;

/** The files that these options name. `paths`: where the value of each option was read. */
export function tlsFilesOf(values: Values, paths: ReadonlyMap<OptionName, string>, options: TlsOptions): TlsFiles {
  const fileOf = (name: PemOption | null): TextFile | null => {
    const [text, path] = name === null ? [null, undefined] : [values[name], paths.get(name)];
    return text === null || path === undefined ? null : { path, text };
  };
  return {
    authorities: fileOf(options.authorities),
    certificate: fileOf(options.certificate),
    key: fileOf(options.key),
  };
}

/** What has to be true of the files of one use of TLS: each is what it should be, and certificate and key fit each other. */
export function tlsRules({ authorities, certificate, key }: TlsOptions): readonly Rule[] {
  const rules: Rule[] = [];
  if (authorities !== null) rules.push(fileRule(authorities, authoritiesProblem));
  if (certificate !== null && key !== null)
    rules.push(fileRule(certificate, certificateProblem), fileRule(key, keyProblem), pairRule(certificate, key));
  return rules;
}

function fileRule(name: PemOption, problemOf: (text: string) => string | null): Rule {
  return {
    over: [name],
    judge: (values) => {
      const text = values[name];
      const problem = text === null ? null : problemOf(text);
      return problem === null ? null : `${name}: the file ${problem}.`;
    },
  };
}

function pairRule(certificate: PemOption, key: PemOption): Rule {
  return {
    over: [certificate, key],
    judge: (values) => {
      const [shown, secret] = [values[certificate], values[key]];
      if ((shown === null) !== (secret === null))
        return `${certificate} and ${key}: one without the other; give both or none.`;
      const read = shown === null || secret === null ? null : readKeyPair(shown, secret);
      // What is wrong with one alone is another rule's.
      const isWrong = read !== null && 'problem' in read && read.of === 'both';
      return isWrong ? `${certificate} and ${key}: ${read.problem}.` : null;
    },
  };
}

/** Files for TLS that a URL without TLS would leave unused, although somebody relies on them. */
export function unusedRule(url: 'SERVICE_BASE_URL' | 'SCHEMA_REGISTRY_URL', options: TlsOptions): Rule {
  const { authorities, certificate, key } = options;
  const names = [authorities, certificate, key].filter((name) => name !== null);
  return {
    over: [url, ...names],
    judge: (values) => {
      const given = names.filter((name) => values[name] !== null);
      return given.length > 0 && values[url].startsWith('http:')
        ? `${given.join(', ')}: ${url} is http, so nothing would be checked by it; give https, or leave it out.`
        : null;
    },
  };
}
