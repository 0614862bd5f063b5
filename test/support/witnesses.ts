import { setTimeout as sleep } from 'node:timers/promises';

/** Says how something stands, for whoever reads of a wait that was in vain; null: nothing that has to do with it. */
export type Witness = (sinceMs: number) => string | null | Promise<string | null>;

/** For one witness to answer. */
const PATIENCE_MS = 3000;

const witnesses = new Set<Witness>();

/** Has somebody asked when a wait was in vain, from now on; call what it answers to have it asked no more. */
export function addWitness(witness: Witness): () => void {
  witnesses.add(witness);
  return () => {
    witnesses.delete(witness);
  };
}

/** What all have to say of a wait that began at `sinceMs`, on the clock of `performance.now()`. Bounded; never rejects. */
export async function testimonies(sinceMs: number): Promise<readonly string[]> {
  const late = sleep(PATIENCE_MS, 'a witness did not answer', { ref: false });
  const told = await Promise.all(
    [...witnesses].map(async (witness) => await Promise.race([testimony(witness, sinceMs), late])),
  );
  return told.filter((text) => text !== null);
}

async function testimony(witness: Witness, sinceMs: number): Promise<string | null> {
  try {
    return await witness(sinceMs);
  } catch {
    return 'a witness could not answer';
  }
}
