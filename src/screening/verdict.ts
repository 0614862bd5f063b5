/** The status codes by which the service refuses what was sent, whoever sends it. */
const REFUSALS: ReadonlySet<number> = new Set([400, 409, 413, 422]);

/** Why a record may be at fault: `status_403`; `error_msg` and `unusable_answer` of a 2xx. */
export type AnswerCode = `status_${number}` | 'error_msg' | 'unusable_answer';

/** What an answer of the service means for what was sent. */
export type Verdict =
  | { readonly do: 'done' }
  /** The service refused what was sent. */
  | { readonly do: 'refused'; readonly why: AnswerCode }
  /** The service is over its rate; it says nothing of what was sent. */
  | { readonly do: 'rate_limited'; readonly why: AnswerCode }
  /** Whether it is the service or what was sent, this answer alone does not tell. */
  | { readonly do: 'open'; readonly why: AnswerCode };

/** What the judgement of an answer looks at. */
export interface Answer {
  readonly status: number;
  /** `error_msg` of the body, if it had one: a failure whatever the status says (spec: Transaction response). */
  readonly errorMessage: string | null;
}

/**
 * What an answer to POST /api/v2/transaction means; total. A 2xx with an object is the score, also where its decision is
 * missing or unknown: asking again would score the payment twice. Spec: Errors.
 */
export function judgeScoring({ status, errorMessage, isObject }: Answer & { readonly isObject: boolean }): Verdict {
  if (isSuccess(status) && !isObject) return { do: 'open', why: 'unusable_answer' };
  return judge(status, errorMessage);
}

/** What an answer to PATCH /api/v2/transaction means; total. The body of a success is not shown by the spec: any 2xx accepts. */
export function judgeSync({ status, errorMessage }: Answer): Verdict {
  return judge(status, errorMessage);
}

/** Whether a failure is more likely our access to the service (3xx, 4xx) than its health. */
export function isAccessFailure(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 425 && status !== 429;
}

function judge(status: number, errorMessage: string | null): Verdict {
  if (isSuccess(status)) return errorMessage === null ? { do: 'done' } : { do: 'open', why: 'error_msg' };
  const why: AnswerCode = `status_${status}`;
  if (status === 429) return { do: 'rate_limited', why };
  return { do: REFUSALS.has(status) ? 'refused' : 'open', why };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
