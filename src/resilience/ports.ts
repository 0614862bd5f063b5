/** What the judgement of the service asks of the client that speaks HTTP. */

/** One exchange with the service, session included: a 401 has already led to one new login and one repeat. */
export type Exchange =
  | {
      readonly do: 'answer';
      readonly status: number;
      /** From `Retry-After` (seconds or a date), at most 5 minutes; null: none. */
      readonly retryAfterMs: number | null;
      /** The whole body, at most 1 MiB. */
      readonly body: Buffer;
      /** From the write of the request to the end of the answer. */
      readonly latencyMs: number;
    }
  | {
      readonly do: 'failed';
      readonly why: 'timeout' | 'connect' | 'reset' | 'oversized' | 'protocol';
      /** The service may have carried it out. */
      readonly ambiguous: boolean;
    }
  /** No session to be had: not this record's fault. */
  | {
      readonly do: 'no_session';
      readonly why: 'credentials_refused' | 'service_down' | 'service_refuses';
      readonly retryMs: number;
    }
  /** The fence was closed: nothing was written. */
  | { readonly do: 'fenced' };

/** The screening service (spec: POST and PATCH /api/v2/transaction). Never rejects. */
export interface ScreeningApi {
  score(body: Buffer): Promise<Exchange>;
  sync(body: Buffer): Promise<Exchange>;
}
