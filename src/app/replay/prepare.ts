import { type KafkaAdmin } from '../../edges/kafka/admin.ts';
import { decodeMap } from '../../engine/offset-map.ts';
import { type Clock, pause } from '../../kernel/clock.ts';
import { Fault } from '../../kernel/fault.ts';
import {
  decodePlan,
  type FoundPlan,
  hashOfParameters,
  type PartitionPlan,
  type PlanParameters,
} from '../../replay/plan.ts';
import { indexGroupOf } from '../../replay/names.ts';
import { parsePosition, type Position } from '../../replay/position.ts';
import { type Mark, type RangeEnd, resolveRange } from '../../replay/range.ts';
import { type StopRequest } from '../../lifecycle/stop-request.ts';

/** What a replay asks of the cluster. */
export type ReplayAdmin = Pick<
  KafkaAdmin,
  'topics' | 'watermarks' | 'offsetsAt' | 'committed' | 'memberCount' | 'commitFor'
>;

export interface ReplayRequest {
  readonly id: string;
  readonly parameters: PlanParameters;
  /** Goes on although records of one transaction may lie in several partitions, and lets whole histories be sent. */
  readonly force: boolean;
  readonly dryRun: boolean;
  /** What messages call it. Default `replay`. */
  readonly noun?: 'replay' | 'redrive';
}

export interface PrepareParts {
  readonly admin: ReplayAdmin;
  readonly clusterHash: string;
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
  readonly clock: Clock;
  readonly stop: StopRequest;
  /** Says something to the person at the terminal. */
  readonly note: (line: string) => void;
}

/** What is to be replayed, fixed. */
export interface Prepared {
  readonly hash: string;
  readonly partitions: ReadonlyMap<number, PartitionPlan>;
  /** Where an earlier start has come to; empty: it begins now. */
  readonly committed: ReadonlyMap<number, bigint>;
  readonly mayBeGone: bigint;
}

const LOOK_EVERY_MS = 500;
const SESSION_GRACE_MS = 5000;

/**
 * The range of a replay: resolved now, or what the group holds of an earlier start with the same parameters. Reads only.
 * Throws `USAGE` for everything that makes it no replay. Null: a stop was asked for meanwhile.
 */
export async function prepare(parts: PrepareParts, request: ReplayRequest): Promise<Prepared | null> {
  const { parameters, force, dryRun } = request;
  const nowMs = parts.clock.nowMs();
  const from = parsePosition('--from', parameters.from, nowMs);
  const to = parsePosition('--to', parameters.to, nowMs);
  if (parameters.everyUpdate && !force && !dryRun)
    throw new Fault('USAGE', '--every-update sends statuses that newer ones have replaced: it needs --force.');
  const hash = hashOfParameters(parameters);
  if (!dryRun) {
    if (!(await untilAlone(parts, nameOfRequest(request)))) return null;
    const found = await findPlan(parts, parameters.topic);
    if (found.do !== 'none') return await resume(parts, request, { hash, found });
  }
  const marks = await parts.admin.watermarks(parameters.topic);
  const ends = await Promise.all([from, to].map(async (position) => await endOf(parts, parameters.topic, position)));
  const [start, end] = ends as [RangeEnd, RangeEnd];
  const { spans, mayBeGone } = resolveRange(marks, start, end);
  const partitions = marks.map(({ partition, high }): [number, PartitionPlan] => {
    const span = spans.get(partition) ?? { from: high, end: high };
    return [partition, { ...span, seen: high }];
  });
  return { hash, partitions: new Map(partitions), committed: new Map(), mayBeGone };
}

/** What the group holds of a plan. */
export async function findPlan(
  { admin, groupId, clusterHash }: Pick<PrepareParts, 'admin' | 'groupId' | 'clusterHash'>,
  topic: string,
): Promise<FoundPlan & { readonly committed: ReadonlyMap<number, bigint> }> {
  const commits = await admin.committed(groupId, topic);
  const committed = new Map([...commits].map(([partition, { offset }]) => [partition, offset]));
  if (commits.size === 0) return { do: 'none', committed };
  const partitions = new Map<number, PartitionPlan>();
  let hash = '';
  for (const [partition, { offset, metadata }] of commits) {
    const map = decodeMap(metadata, { clusterHash, offset });
    const plan = map.do === 'map' ? decodePlan(map.nonce) : null;
    if (plan === null) continue;
    const { from, end, seen } = plan;
    partitions.set(partition, { from, end, seen });
    ({ hash } = plan);
  }
  return partitions.size === 0 ? { do: 'finished', committed } : { do: 'plan', hash, partitions, committed };
}

async function resume(
  { admin }: PrepareParts,
  request: ReplayRequest,
  { hash, found }: { readonly hash: string; readonly found: Awaited<ReturnType<typeof findPlan>> },
): Promise<Prepared> {
  const { parameters, force } = request;
  const name = nameOfRequest(request);
  const orForget = request.noun === 'redrive' ? '' : `, or forget it: fraud-connector replay --remove ${request.id}`;
  if (found.do !== 'plan')
    throw new Fault('USAGE', `The ${name} has come to its end already. Give another --id${orForget}`);
  if (found.hash !== hash)
    throw new Fault(
      'USAGE',
      `The ${name} was begun with other options. Give those again to resume it, or another --id${orForget}`,
    );
  const marks = await admin.watermarks(parameters.topic);
  if (marks.length !== found.partitions.size && !force)
    throw new Fault(
      'USAGE',
      `${parameters.topic} had ${String(found.partitions.size)} partitions when the ${name} was begun, and has ${String(marks.length)} now: ${request.noun === 'redrive' ? 'give another --id.' : 'updates of one transaction may lie in two of them. --force goes on; the later timestamp counts as newer then.'}`,
    );
  for (const { partition, end } of [...found.partitions].map(([of, plan]) => ({ partition: of, end: plan.end })))
    if ((marks.find((mark) => mark.partition === partition)?.high ?? 0n) < end)
      throw new Fault(
        'USAGE',
        `Partition ${String(partition)} of ${parameters.topic} ends before the range of the ${name}: the topic was made anew, or its end was lost. Give another --id.`,
      );
  const partitions = marks.map((mark): [number, PartitionPlan] => [
    mark.partition,
    found.partitions.get(mark.partition) ?? begunLater(mark),
  ]);
  return { hash, partitions: new Map(partitions), committed: found.committed, mayBeGone: 0n };
}

function nameOfRequest({ id, noun = 'replay' }: ReplayRequest): string {
  return `${noun} ${id}`;
}

/** A partition that came after the replay had begun: nothing of it is in the range, all of it may be newer. */
function begunLater({ low }: Mark): PartitionPlan {
  return { from: low, end: low, seen: low };
}

async function endOf({ admin }: PrepareParts, topic: string, position: Position): Promise<RangeEnd> {
  const offsets = position.do === 'at' ? await admin.offsetsAt(topic, position.ms) : new Map<number, bigint>();
  return { position, offsets };
}

/** Waits for the session of a start that was killed to end. Throws `USAGE` where another one is at work; false: a stop was asked for. */
async function untilAlone(parts: PrepareParts, name: string): Promise<boolean> {
  const { admin, groupId, clock, stop, sessionTimeoutMs, note } = parts;
  const untilMs = clock.monotonicMs() + sessionTimeoutMs + SESSION_GRACE_MS;
  let isSaid = false;
  // Also where it looks for what is newer: beside a dead member it would get a part of the partitions.
  const groups = [groupId, indexGroupOf(groupId)];
  while (await hasMembers(admin, groups)) {
    if (clock.monotonicMs() >= untilMs)
      throw new Fault('USAGE', `The ${name} is being carried out by another process.`);
    if (!isSaid) note(`Another process has worked on the ${name}; waiting for its session to end.`);
    isSaid = true;
    await pause(clock, LOOK_EVERY_MS);
    if (stop.reason !== null) return false;
  }
  return true;
}

async function hasMembers(admin: ReplayAdmin, groups: readonly string[]): Promise<boolean> {
  for (const groupId of groups) if ((await admin.memberCount(groupId)) > 0) return true;
  return false;
}
