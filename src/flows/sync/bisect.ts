/**
 * The plan of a batch that was refused as a whole: halves, and halves of those, until what is refused stands alone.
 * A plan is a value; each answer to its next part gives the next plan.
 */
export interface Bisection<Member> {
  /** Parts that have not been answered, in the order in which they are to be sent. */
  readonly parts: readonly (readonly Member[])[];
  /** Members that were refused alone. */
  readonly culprits: readonly Member[];
  /** How many members were accepted. */
  readonly accepted: number;
}

/** The plan before the first call: everything in one part. */
export function wholeBatch<Member>(members: readonly Member[]): Bisection<Member> {
  return { parts: members.length === 0 ? [] : [members], culprits: [], accepted: 0 };
}

/** The plan after the next part was accepted. */
export function partAccepted<Member>(plan: Bisection<Member>): Bisection<Member> {
  const [part, ...rest] = plan.parts;
  return { ...plan, parts: rest, accepted: plan.accepted + (part?.length ?? 0) };
}

/**
 * The plan after the next part was refused: its halves come next, or its one member is a culprit. For k culprits among
 * n members at most 2·k·⌈log2 n⌉ calls follow the first: each level of halves holds at most k parts with a culprit.
 */
export function partRefused<Member>(plan: Bisection<Member>): Bisection<Member> {
  const [part, ...rest] = plan.parts;
  if (part === undefined) return plan;
  if (part.length === 1) return { ...plan, parts: rest, culprits: [...plan.culprits, ...part] };
  const middle = Math.ceil(part.length / 2);
  return { ...plan, parts: [part.slice(0, middle), part.slice(middle), ...rest] };
}
