import { type Answer, errorAnswer } from './answer.ts';
import { brokenAnswer } from './broken-answers.ts';
import { type Strike } from './fault-plan.ts';
import { type StatusFault } from './faults.ts';

/** The answer to a request that was struck and not carried out. */
export function struckAnswer(strike: Strike, nowMs: number): Answer {
  const { status, answer } = strike;
  if (status !== null) return statusAnswer(status, nowMs);
  const nothing: Answer = { status: 200, body: '{}' };
  return answer === null ? nothing : brokenAnswer(answer).make(nothing);
}

/** The right answer of a request that was carried out, as the strike makes it. An answer that is itself an error stays as it is. */
export function disguised(right: Answer, strike: Strike, nowMs: number): Answer {
  if (!strike.carriedOut || right.status < 200 || right.status > 299) return right;
  if (strike.status !== null) return { ...right, ...statusAnswer(strike.status, nowMs) };
  return strike.answer === null ? right : brokenAnswer(strike.answer).make(right);
}

function statusAnswer({ code, retryAfter, retryAfterDateSeconds, location }: StatusFault, nowMs: number): Answer {
  const date =
    retryAfterDateSeconds === undefined ? undefined : new Date(nowMs + retryAfterDateSeconds * 1000).toUTCString();
  const wait = retryAfter ?? date;
  return errorAnswer(code, 'a fault of the sandbox', {
    ...(wait === undefined ? {} : { 'retry-after': wait }),
    ...(location === undefined ? {} : { location }),
  });
}
