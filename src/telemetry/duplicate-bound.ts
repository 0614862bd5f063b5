import { type EngineStatus } from '../engine/ports.ts';
import { type DuplicateBound } from './ports.ts';

/**
 * What a kill -9 at this moment would repeat at most, per flow. Everything else is either committed, and never read
 * again, or has not been sent, and is done once. A record that waits after an attempt without an answer is sent again
 * with or without a crash, so it is not counted; a record passed over by a rule neither: nothing is sent for it.
 *
 * It is no bound where the next owner cannot use the committed map (event `offset_map_ignored`), and it knows nothing of
 * webhooks: the sender repeats those that it had no answer to, under the same event_id.
 *
 * @param monotonicMs the clock that the status was read by.
 */
export function duplicateBounds({ flows }: EngineStatus, monotonicMs: number): readonly DuplicateBound[] {
  return flows.map(({ name, inFlight, answered, unsaved, unsavedSinceMs }) => ({
    flow: name,
    records: inFlight + answered + unsaved,
    inFlight,
    answered,
    unsaved,
    unsavedForMs: unsavedSinceMs === null ? null : Math.max(0, Math.round(monotonicMs - unsavedSinceMs)),
  }));
}
