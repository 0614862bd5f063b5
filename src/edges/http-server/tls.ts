import { constants } from 'node:crypto';
import { type Server } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import { type WebhookTlsFailure } from '../../kernel/emit.ts';
import { type Certificate } from './certificate.ts';

/** OpenSSL's names of the alerts of RFC 8446 (section 6.2) that a peer sends when it does not trust a certificate. */
const CERTIFICATE_REFUSED = /_ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_\w+)$/;
const NO_COMMON_VERSION =
  /_(UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|NO_SHARED_CIPHER|ALERT_PROTOCOL_VERSION|ALERT_HANDSHAKE_FAILURE)$/;

/** The options of a TLS server that shows this certificate: TLS 1.2 or newer, HTTP/1.1, no renegotiation. */
export function tlsOptions({ certificate, key }: Pick<Certificate, 'certificate' | 'key'>): {
  readonly cert: string;
  readonly key: string;
  readonly minVersion: 'TLSv1.2';
  readonly secureOptions: number;
  readonly ALPNProtocols: string[];
} {
  return {
    cert: certificate,
    key,
    minVersion: 'TLSv1.2',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ALPNProtocols: ['http/1.1'],
  };
}

/** Shows another certificate from now on; a server without TLS stays one. */
export function renewCertificate(server: Server, certificate: Certificate): void {
  if (server instanceof HttpsServer) server.setSecureContext(tlsOptions(certificate));
}

/** What the error code of a connection says of its TLS; null: nothing. */
export function tlsFailureOf(code: string | undefined): WebhookTlsFailure | null {
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return 'too_slow';
  if (code?.startsWith('ERR_SSL_') !== true) return null;
  if (code === 'ERR_SSL_HTTP_REQUEST') return 'plain_http';
  if (CERTIFICATE_REFUSED.test(code)) return 'certificate_refused';
  return NO_COMMON_VERSION.test(code) ? 'no_common_version' : 'other';
}
