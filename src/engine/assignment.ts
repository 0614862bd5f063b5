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
  const result = new Map<string, number[]>(members.map(({ id }) => [id, []]));
  if (result.size === 0) return result;
  const kept = rightfulUnits(unitCount, members);
  const order = [...result.keys()].sort(
    (a, b) => (kept.get(b)?.length ?? 0) - (kept.get(a)?.length ?? 0) || (a < b ? -1 : 1),
  );
  // Who holds most may hold the one more that does not divide evenly: so fewest move.
  const quota = quotas(unitCount, order);
  const placed = new Set<number>();
  for (const id of order) {
    for (const unit of (kept.get(id) ?? []).slice(0, quota.get(id))) {
      result.get(id)?.push(unit);
      placed.add(unit);
    }
  }
  fill(unitCount, { order, quota, placed, result });
  for (const units of result.values()) units.sort((a, b) => a - b);
  return result;
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
  const kept = new Map<string, number[]>();
  for (const unit of [...owner.keys()].sort((a, b) => a - b)) {
    const id = owner.get(unit)?.id ?? '';
    const units = kept.get(id);
    if (units === undefined) kept.set(id, [unit]);
    else units.push(unit);
  }
  return kept;
}

function outranks(a: Claimant, b: Claimant): boolean {
  const newer = a.claim.generation - b.claim.generation;
  return newer > 0 || (newer === 0 && a.id < b.id);
}

function quotas(unitCount: number, order: readonly string[]): Map<string, number> {
  const floor = Math.floor(unitCount / order.length);
  const extra = unitCount % order.length;
  return new Map(order.map((id, index) => [id, floor + (index < extra ? 1 : 0)]));
}

function fill(
  unitCount: number,
  {
    order,
    quota,
    placed,
    result,
  }: {
    readonly order: readonly string[];
    readonly quota: ReadonlyMap<string, number>;
    readonly placed: ReadonlySet<number>;
    readonly result: ReadonlyMap<string, number[]>;
  },
): void {
  let at = 0;
  for (let unit = 0; unit < unitCount; unit += 1) {
    if (placed.has(unit)) continue;
    for (; at < order.length; at += 1) {
      const id = order[at] ?? '';
      const units = result.get(id) ?? [];
      if (units.length >= (quota.get(id) ?? 0)) continue;
      units.push(unit);
      break;
    }
  }
}
