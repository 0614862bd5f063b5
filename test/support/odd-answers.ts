import { type BrokenAnswerName } from '../../src/sandbox/service/broken-answers.ts';
import { type FaultRule, type StatusFault } from '../../src/sandbox/service/faults.ts';

/** What the sandbox always answers to the ids of one kind. */
export type OddAnswer = Omit<Partial<FaultRule>, 'only'>;

/** Every id of a kind begins so. */
export function oddPrefix(kind: string): string {
  return `odd-${kind}-`;
}

/** The rules of a sandbox that always gives each kind of ids its answer, whatever else is among a PATCH. */
export function oddRules(answers: Readonly<Record<string, OddAnswer>>): readonly Partial<FaultRule>[] {
  return Object.entries(answers).map(([kind, answer]) =>
    Object.assign({ only: { transIdPrefixes: [oddPrefix(kind)] } }, answer),
  );
}

/** A status alone; a redirect names a place. */
export function oddStatus(code: number): OddAnswer {
  return { status: oddHead(code) };
}

/** A status with a body of that shape. */
export function oddBody(code: number, as: BrokenAnswerName): OddAnswer {
  return { status: oddHead(code), answer: { as } };
}

function oddHead(code: number): StatusFault {
  return code >= 300 && code < 400 ? { code, location: 'elsewhere' } : { code };
}
