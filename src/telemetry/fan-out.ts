import { type Emit } from '../kernel/emit.ts';

/** One `Emit` for several listeners. It never throws: a listener that fails keeps neither the others nor the speaker from going on. */
export function fanOut(...listeners: readonly Emit[]): Emit {
  return (event, fields) => {
    for (const listener of listeners) {
      try {
        listener(event, fields);
      } catch {
        // Saying that saying failed would come back here; the other listeners still hear the event.
      }
    }
  };
}
