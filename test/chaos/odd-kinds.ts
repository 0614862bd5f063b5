import { type FaultRule } from '../../src/sandbox/service/faults.ts';
import { type OddAnswer, oddBody, oddPrefix, oddRules, oddStatus } from '../support/odd-answers.ts';

/**
 * What the service always answers to odd payments and to their updates, by the kind in their ids. 429 is left out: a record
 * that always gets it never ends.
 */
export const ODD_ANSWERS: Readonly<Record<string, OddAnswer>> = {
  ...Object.fromEntries(
    [301, 308, 400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 418, 422, 425, 451].map((code) => [
      String(code),
      oddStatus(code),
    ]),
  ),
  ...Object.fromEntries([500, 501, 502, 503, 504, 507, 599].map((code) => [String(code), oddStatus(code)])),
  '201.right': oddBody(201, 'right'),
  '204': oddBody(204, 'no_content'),
  '206.right': oddBody(206, 'right'),
  '200.empty': oddBody(200, 'empty'),
  '200.text': oddBody(200, 'text'),
  '200.html': oddBody(200, 'html'),
  '200.array': oddBody(200, 'not_object'),
  '200.string': oddBody(200, 'string'),
  '200.object': oddBody(200, 'object'),
  '200.bom': oddBody(200, 'bom'),
  '200.wrong_type': oddBody(200, 'wrong_type'),
  '200.huge_body': oddBody(200, 'huge_body'),
  '200.chunked': oddBody(200, 'chunked'),
  '200.error_msg': oddBody(200, 'error_msg'),
  '200.error_beside': oddBody(200, 'error_beside'),
  '200.decision_missing': { answer: { as: 'decision_missing' } },
  '200.decision_9': { answer: { as: 'decision_9' } },
  '403.html': oddBody(403, 'html'),
  '500.garbage': oddBody(500, 'garbage'),
  '200.truncated': oddBody(200, 'truncated'),
  '200.chunked_cut': oddBody(200, 'chunked_cut'),
  '200.reset_midway': oddBody(200, 'reset_midway'),
  not_http: { answer: { as: 'not_http' } },
  close: { answer: { as: 'close' } },
  reset_before: { resetBeforeShare: 1 },
  reset_after: { resetShare: 1 },
};

/** Answers that only the client's timeout ends. */
export const ODD_TIMEOUTS: Readonly<Record<string, OddAnswer>> = {
  hang: { answer: { as: 'hang' } },
  trickle: oddBody(200, 'trickle'),
  slow_body: { status: { code: 200 }, answer: { as: 'object' }, dripMs: 60_000 },
};

/** Kinds whose answer has status 200 and says that nothing was accepted. */
const REFUSING_200: readonly string[] = ['200.error_msg', '200.error_beside'].map(oddPrefix);
const ABORTED = oddPrefix('aborted');
const ODD = 'odd-';

/** Whether the key of this record has an odd one. All ids of such a key begin alike. */
export function isOdd(transId: string): boolean {
  return transId.startsWith(ODD);
}

/** Whether a record was written in a transaction that was aborted. The connector must never send it. */
export function isAborted(transId: string): boolean {
  return transId.startsWith(ABORTED);
}

/** Whether the service answers a request about these ids with 200 and accepts nothing. */
export function isRefusedWith200(transIds: readonly string[]): boolean {
  return transIds.some((transId) => REFUSING_200.some((prefix) => transId.startsWith(prefix)));
}

/** The rules of the sandbox by which odd ids get their answers. */
export function oddKindRules(latencyMs: number): readonly Partial<FaultRule>[] {
  return oddRules(
    Object.fromEntries(
      Object.entries({ ...ODD_ANSWERS, ...ODD_TIMEOUTS }).map(([kind, answer]) => [
        kind,
        Object.assign({ latencyMs }, answer),
      ]),
    ),
  );
}
