import { type OpenRequest } from './ledger.ts';

/** How an answer goes over the wire; `plain`: as HTTP wants it. */
export type Wire =
  | 'plain'
  | 'hang'
  | 'trickle'
  | 'close'
  | 'truncated'
  | 'reset_midway'
  | 'chunked'
  | 'chunked_cut'
  | 'not_http';

/** What goes back; JSON unless a header says otherwise. */
export interface Answer {
  readonly status: number;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** To be told to the ledger when the answer leaves. */
  readonly open?: OpenRequest;
  /** Default `plain`. */
  readonly wire?: Wire;
  /** `content-length`, where it is not the body's. */
  readonly declaredBytes?: number;
}

/** An error in the service's form (spec: Errors): `error_msg` names a rule, never the sender's data. */
export function errorAnswer(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, body: JSON.stringify({ error_msg: message }), headers };
}
