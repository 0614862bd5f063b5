import { type Act, targetOf } from './acts.ts';

/** Who may be struck now. */
export interface Field {
  /** The most connectors there can be. */
  readonly connectors: number;
  /** Whether what was done to a target before has not ended. */
  readonly isBusy: (target: string) => boolean;
  /** Whether a connector has joined, and nothing ends or stops it. */
  readonly isAtWork: (connector: number) => boolean;
}

/**
 * The act, or the same to another connector where that one has not come back; null where too few are there: one is always
 * left at work, so that a slow machine has fewer faults and not a campaign without any work.
 */
export function spared(act: Act, { connectors, isBusy, isAtWork }: Field): Act | null {
  if (!('connector' in act)) return isBusy(targetOf(act)) ? null : act;
  const inTurn = Array.from({ length: connectors }, (_, index) => 1 + ((act.connector - 1 + index) % connectors));
  const there = inTurn.filter((connector) => !isBusy(targetOf({ ...act, connector })) && isAtWork(connector));
  const [connector, other] = there;
  return connector === undefined || other === undefined ? null : { ...act, connector };
}
