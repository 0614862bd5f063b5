/** The part of kafkajs' pool of brokers that is mended here. */
export interface AskingPool {
  withBroker: <T>(this: AskingPool, callback: (given: unknown) => Promise<T>) => Promise<T | null>;
}

const REFUSED = 'GROUP_AUTHORIZATION_FAILED';

/**
 * Lets a question that every broker has refused end with that refusal. kafkajs asks one broker after the other and forgets
 * what they said: a right that is missing on a group looks as if the group had no coordinator, which says nothing of how
 * to mend it.
 */
export function tellRefusals(prototype: AskingPool): void {
  const original = prototype.withBroker;
  prototype.withBroker = async function withBrokerAloud<T>(
    this: AskingPool,
    callback: (given: unknown) => Promise<T>,
  ): Promise<T | null> {
    let refusal: Error | null = null;
    const asked = async (given: unknown): Promise<T> => {
      try {
        return await callback(given);
      } catch (error) {
        if (error instanceof Error && Reflect.get(error, 'type') === REFUSED) refusal = error;
        throw error;
      }
    };
    const answer = await original.call(this, asked);
    if (answer === null && refusal !== null) throw refusal as Error;
    return answer as T | null;
  };
}
