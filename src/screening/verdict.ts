/** The refusals that are one record's own fault. */
export type Refusal = 'status_400' | 'status_413' | 'status_422' | 'ambiguous_then_refused';
/** Answers that may be one record's doing, or the service's: only many of them, while others succeed, tell. */
export type Suspicion = 'status_500' | 'error_msg';

/** What an answer of the service means for what was sent. */
export type Verdict =
  | { readonly do: 'done' }
  | {
      readonly do: 'retry';
      /** From `Retry-After`; null: the service did not say. */
      readonly afterMs: number | null;
      readonly why: string;
      /** What it may say of this record; null: it speaks of the service's health only. */
      readonly counts: Suspicion | null;
    }
  /** This record; never the service's fault. */
  | { readonly do: 'refuse'; readonly why: Refusal }
  /** The service, or our access to it; never this record's fault. */
  | { readonly do: 'hold'; readonly why: string };

/** What the judgement of a status update's answer looks at. */
export interface SyncAnswer {
  readonly status: number;
  readonly retryAfterMs: number | null;
  /** `error_msg` of the body, if it had one: a failure whatever the status says (spec: Transaction response). */
  readonly errorMessage: string | null;
}

/** What the judgement of a scoring request's answer looks at. */
export interface ScoringAnswer extends SyncAnswer {
  /** The body is a JSON object. */
  readonly isObject: boolean;
  /** An earlier attempt of this record may have been carried out. */
  readonly afterAmbiguous: boolean;
}

/** What an answer to POST /api/v2/transaction means for its record; total. Spec: Errors. */
export function judgeScoring(answer: ScoringAnswer): Verdict {
  const { status, errorMessage, isObject, afterAmbiguous } = answer;
  if (status === 200 && !isObject) return { do: 'hold', why: 'no_object' };
  if (status === 200) return errorMessage === null ? { do: 'done' } : ERROR_MESSAGE;
  // The first attempt may have been scored and this be the answer to a known trans_id: it says nothing of the data.
  if (afterAmbiguous && (status === 400 || status === 409 || status === 422))
    return { do: 'refuse', why: 'ambiguous_then_refused' };
  return judgeFailure(answer);
}

/** What an answer to PATCH /api/v2/transaction means for its batch; total. The body of a success is not shown by the spec: any 2xx accepts. */
export function judgeSync(answer: SyncAnswer): Verdict {
  const { status, errorMessage } = answer;
  if (status >= 200 && status < 300) return errorMessage === null ? { do: 'done' } : ERROR_MESSAGE;
  return judgeFailure(answer);
}

const ERROR_MESSAGE: Verdict = { do: 'retry', afterMs: null, why: 'error_msg', counts: 'error_msg' };

function judgeFailure({ status, retryAfterMs }: SyncAnswer): Verdict {
  if (status === 400 || status === 413 || status === 422) return { do: 'refuse', why: `status_${status}` };
  if (status === 408 || status === 425 || status === 429 || status >= 500)
    return {
      do: 'retry',
      afterMs: retryAfterMs,
      why: `status_${status}`,
      counts: status === 500 ? 'status_500' : null,
    };
  // 401 with a fresh session, 403, 404, 405, redirects, and what nobody has named.
  return { do: 'hold', why: `status_${status}` };
}
