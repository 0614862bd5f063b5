/**
 * Who reads what: the pure core of the sticky, co-partitioned assignment.
 *
 * The unit is a partition NUMBER: whoever owns unit 7 reads partition 7 of every topic of the group, so that records of
 * one key in two equally partitioned topics meet in one process.
 */

/** What a member says it owned, and in which generation of the group. */
export interface Claim {
  readonly generation: number;
  readonly units: readonly number[];
}

export interface Claimant {
  readonly id: string;
  readonly claim: Claim;
}

/** The claim of a member that owned nothing. */
export const NO_CLAIM: Claim = { generation: -1, units: [] };

/**
 * The units of each member: sizes differ by one at most, and as few units change hands as that allows.
 * Deterministic: the same members and claims, in whatever order, give the same answer.
 */
export function assignUnits(unitCount: number, members: readonly Claimant[]): Map<string, number[]> {
  const owned = rightfulUnits(unitCount, members);
  // Who holds most may hold the one more that does not divide evenly: so fewest move.
  const shares = [...owned].sort(([a, ofA], [b, ofB]) => ofB.length - ofA.length || (a < b ? -1 : 1));
  for (const [index, [, units]] of shares.entries()) units.splice(quotaOf(index, unitCount, shares.length));
  const kept = new Set(shares.flatMap(([, units]) => units));
  let unit = 0;
  for (const [index, [, units]] of shares.entries()) {
    const quota = quotaOf(index, unitCount, shares.length);
    for (; units.length < quota; unit += 1) if (!kept.has(unit)) units.push(unit);
    units.sort((a, b) => a - b);
  }
  return owned;
}

/**
 * One rightful previous owner a unit: the claim of the highest generation wins, because a process that was stopped and
 * comes back still claims what it owned long ago; ties go to the smaller id.
 */
function rightfulUnits(unitCount: number, members: readonly Claimant[]): Map<string, number[]> {
  const owner = new Map<number, Claimant>();
  for (const member of members) {
    for (const unit of member.claim.units) {
      if (!Number.isInteger(unit) || unit < 0 || unit >= unitCount) continue;
      const other = owner.get(unit);
      if (other === undefined || outranks(member, other)) owner.set(unit, member);
    }
  }
  const units = new Map<string, number[]>(members.map(({ id }) => [id, []]));
  for (const [unit, { id }] of [...owner].sort(([a], [b]) => a - b)) units.get(id)?.push(unit);
  return units;
}

function outranks(a: Claimant, b: Claimant): boolean {
  const newer = a.claim.generation - b.claim.generation;
  return newer > 0 || (newer === 0 && a.id < b.id);
}

/** How many units the member at this place gets: as many as each other, and one more for the first ones if need be. */
function quotaOf(index: number, unitCount: number, memberCount: number): number {
  return Math.floor(unitCount / memberCount) + (index < unitCount % memberCount ? 1 : 0);
}
