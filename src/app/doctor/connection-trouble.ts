import { type HttpNeighbour } from '../../kernel/emit.ts';

/** What a connection came to nothing by, and what to do about it. */
export interface ConnectionTrouble {
  readonly text: string;
  readonly mend: string;
}

/** The options that a neighbour is reached by. */
export interface Named {
  readonly url: string;
  readonly authorities: string;
  /** Null: no certificate of ours can be shown. */
  readonly pair: string | null;
}

const NAMED: Readonly<Record<HttpNeighbour, Named>> = {
  service: {
    url: 'SERVICE_BASE_URL',
    authorities: 'SERVICE_TLS_CA_FILE',
    pair: 'SERVICE_TLS_CERT_FILE and SERVICE_TLS_KEY_FILE',
  },
  registry: { url: 'SCHEMA_REGISTRY_URL', authorities: 'SCHEMA_REGISTRY_TLS_CA_FILE', pair: null },
};

interface Row {
  readonly code: RegExp;
  readonly text: string;
  readonly mend: (named: Named) => string;
}

/** The codes of Node and OpenSSL (X509_verify_cert), of alerts (RFC 8446, section 6.2), and of our tunnels. */
const TROUBLES: readonly Row[] = [
  {
    code: /\b(UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)\b/,
    text: 'its certificate is of an authority that is not trusted here, or it leaves out those that lead to it',
    mend: ({ authorities }) => `put the certificate of that authority into the file of ${authorities}`,
  },
  {
    code: /\bCERT_HAS_EXPIRED\b/,
    text: 'its certificate has expired',
    mend: () => 'ask those who run it for a new one; look at the clock of this machine',
  },
  {
    code: /\bCERT_NOT_YET_VALID\b/,
    text: 'its certificate is not valid yet',
    mend: () => 'look at the clock of this machine, then ask those who run it',
  },
  {
    code: /\bERR_TLS_CERT_ALTNAME_INVALID\b/,
    text: 'its certificate is for another host name',
    mend: ({ url }) => `give ${url} the host name that the certificate has`,
  },
  {
    code: /_ALERT_(CERTIFICATE_\w+|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)\b/,
    text: 'it asks for a certificate of ours, or does not take the one it was shown',
    mend: ({ pair }) =>
      pair === null
        ? 'a certificate of ours cannot be shown to it: let it take user name and password'
        : `give ${pair}, of an authority that it trusts`,
  },
  {
    code: /\bERR_SSL_\w*(PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|NO_SHARED_CIPHER)\b/,
    text: 'it speaks no TLS of version 1.2 or newer',
    mend: () => 'ask those who run it to allow TLS 1.2 or 1.3',
  },
  {
    code: /\bERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|\w*RECORD_LAYER\w*)\b/,
    text: 'what answers there does not speak TLS',
    mend: ({ url }) => `look at the port of ${url}`,
  },
  {
    code: /\bPROXY_407\b/,
    text: 'the proxy asks for another user name or password',
    mend: () =>
      'give them in SERVICE_PROXY_URL (http://user:password@host:port), or in the file of SERVICE_PROXY_URL_FILE',
  },
  {
    code: /\bPROXY_(403|405)\b/,
    text: 'the proxy lets nobody through to that host and port',
    mend: ({ url }) => `ask those who run the proxy to allow CONNECT to the host and port of ${url}`,
  },
  {
    code: /\bPROXY_(5\d\d)\b/,
    text: 'the proxy does not reach it',
    mend: ({ url }) => `look at ${url}; ask those who run the proxy`,
  },
  {
    code: /\bPROXY_\w+/,
    text: 'the proxy does not open a tunnel',
    mend: () => 'look at SERVICE_PROXY_URL (its scheme is how the proxy itself is spoken to) and at the proxy',
  },
];

/** What can be said of a connection that came to nothing, as docs/security.md has it, too. */
export const TROUBLE_TEXTS: readonly string[] = TROUBLES.map(({ text }) => text);

/** What an error's name or code says of a connection; null: nothing that is known here. */
export function connectionTrouble(neighbour: HttpNeighbour, failed: string): ConnectionTrouble | null {
  return troubleOf(NAMED[neighbour], failed);
}

/** The same of a neighbour that is reached by these options. */
export function troubleOf(named: Named, failed: string): ConnectionTrouble | null {
  const row = TROUBLES.find(({ code }) => code.test(failed));
  return row === undefined ? null : { text: row.text, mend: row.mend(named) };
}
