import { type Answer, errorAnswer } from './answer.ts';
import { brokenAnswer } from './broken-answers.ts';
import { type Strike } from './fault-plan.ts';
import { type StatusFault } from './faults.ts';

/** The answer to a request that was struck and not carried out. */
export function struckAnswer(strike: Strike, nowMs: number): Answer {
  return changed({ status: 200, body: '{}' }, strike, nowMs);
}

/** The right answer of a request that was carried out, as the strike makes it. An answer that is itself an error stays as it is. */
export function disguised(right: Answer, strike: Strike, nowMs: number): Answer {
  if (!strike.carriedOut || right.status < 200 || right.status > 299) return right;
  return changed(right, strike, nowMs);
}

/** A body and a way over the wire by the broken answer, status and headers by the status. */
function changed(right: Answer, { status, answer }: Strike, nowMs: number): Answer {
  const broken = answer === null ? right : brokenAnswer(answer).make(right);
  if (status === null) return broken;
  const told = statusAnswer(status, nowMs);
  if (answer === null) return { ...right, ...told };
  return { ...broken, status: told.status, headers: { ...broken.headers, ...told.headers } };
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
