import { causeCode, needing, type Rights } from './errors.ts';

/** The right that asking about topics needs; Read and Write include it. */
export function describing(...topics: readonly string[]): Rights {
  return { topic: ['Describe', ...topics] };
}

/** Asks about each topic; where Kafka refuses that of some, the error names all of them. */
export async function eachTopic<T>(topics: readonly string[], ask: (topic: string) => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  const failures: unknown[] = [];
  const refusals: { readonly topic: string; readonly error: unknown }[] = [];
  await Promise.all(
    topics.map(async (topic, index) => {
      try {
        answers[index] = await ask(topic);
      } catch (error) {
        if (causeCode(error) === 'TOPIC_AUTHORIZATION_FAILED') refusals.push({ topic, error });
        else failures.push(error);
      }
    }),
  );
  const [refusal] = refusals;
  if (refusal !== undefined) throw needing(refusal.error, describing(...refusals.map(({ topic }) => topic).sort()));
  if (failures.length > 0) throw failures[0];
  return answers;
}
