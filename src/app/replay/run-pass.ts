import { type Clock, type Draw, pause } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { Engine } from '../../engine/engine.ts';
import { type DeadLetters, type Flow, type FlowStatus, type Schemas, type Source } from '../../engine/ports.ts';
import { type StopRequest } from '../../lifecycle/stop-request.ts';
import { BoundedSource, type Spans } from '../../replay/bounded-source.ts';

const LOOK_EVERY_MS = 100;
/** How long the last commit is waited for. Where nothing but markers was left to read there is no way to commit. */
const COMMIT_WAIT_MS = 5000;
const PARTITION_RECORDS = 1024;

/** What all passes of a command share. */
export interface PassParts {
  /** A member of this group that reads this topic. */
  readonly sourceOf: (groupId: string, topic: string) => Source;
  readonly schemas: Schemas;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
  /** As `clusterHashOf` writes it. */
  readonly clusterHash: string;
  readonly commitIntervalMs: number;
  readonly drainTimeoutMs: number;
  readonly barrierMs: number;
  readonly buffer: { readonly maxRecords: number; readonly maxBytes: number; readonly maxSpan: number };
  readonly stop: StopRequest;
}

/** One reading of a bounded part of a topic through a flow. */
export interface Pass {
  readonly groupId: string;
  readonly topic: string;
  readonly spans: Spans;
  readonly flow: Flow<unknown, unknown>;
  readonly deadLetters: DeadLetters;
  /**
   * What the commits of a partition carry beside its offset (1 to 32 base64url digits). Null: the group keeps nothing,
   * and the pass begins anew each time.
   */
  readonly planOf: ((partition: number) => string) | null;
  /** Called once the group holds what `planOf` says of every partition: from then on a crash is followed by a resumption. */
  readonly onPlanned?: () => void;
  /** Called ten times a second. Throws to end the pass; what runs may end first. */
  readonly onLook?: (progress: PassProgress) => void;
}

export interface PassProgress {
  /** Offsets of the spans, and those of them that are settled or gone. */
  readonly total: number;
  readonly done: number;
  readonly flow: FlowStatus | null;
}

export interface PassEnd {
  readonly do: 'done' | 'stopped';
  /** Records handed to the flow. */
  readonly read: number;
  /** How many records ended so: `delivered`, `skip:<rule>`, `dead_letter:<reason>`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Offsets of the spans that were not in the log any more. */
  readonly gone: number;
  /** Steps that had not ended when the pass was stopped: they are repeated when it is resumed. */
  readonly unfinished: number;
}

/** Reads the spans of a topic through a flow, to their end or until a stop is asked for. Kafka and the service being away is waited out. */
export async function runPass(parts: PassParts, pass: Pass): Promise<PassEnd> {
  const { clock, stop } = parts;
  const { topic, spans, planOf, onPlanned } = pass;
  const bounded = new BoundedSource({
    source: parts.sourceOf(pass.groupId, topic),
    spans,
    keepsCommits: planOf !== null,
  });
  let gone = 0;
  const engine = createEngine(parts, pass, bounded, (missing) => {
    gone += missing;
  });
  let isPlanned = false;
  bounded.onCommitted(() => {
    if (isPlanned || !bounded.isCommitted) return;
    isPlanned = true;
    onPlanned?.();
  });
  const total = sizeOf(spans);
  let settledMs: number | null = null;
  const look = (): PassEnd['do'] | null => {
    const { partitions, flows } = engine.status();
    pass.onLook?.({ total, done: total - leftOf(spans, partitions), flow: flows[0] ?? null });
    if (!isSettled(spans, partitions)) settledMs = null;
    else if (isCommitted(spans, partitions, planOf !== null)) return 'done';
    else settledMs ??= clock.monotonicMs();
    if (settledMs !== null && clock.monotonicMs() - settledMs >= COMMIT_WAIT_MS) return 'done';
    return stop.reason === null ? null : 'stopped';
  };
  await engine.start();
  let ended: PassEnd['do'];
  try {
    ended = await untilEnded(clock, look);
  } catch (error) {
    await engine.stop(parts.drainTimeoutMs);
    throw error;
  }
  const unfinished = await engine.stop(parts.drainTimeoutMs);
  const outcomes = engine.status().flows[0]?.outcomes ?? {};
  return { do: ended, read: bounded.handedOver, outcomes, gone, unfinished };
}

function createEngine(parts: PassParts, pass: Pass, source: Source, onGone: (missing: number) => void): Engine {
  const { planOf } = pass;
  const { emit, buffer } = parts;
  return new Engine({
    source,
    flows: new Map([[pass.topic, pass.flow]]),
    deadLetters: pass.deadLetters,
    schemas: parts.schemas,
    clock: parts.clock,
    draw: parts.draw,
    emit: (event, fields) => {
      if (event === 'offset_gap' && 'missing' in fields) onGone(Number(fields.missing));
      emit(event, fields);
    },
    commitIntervalMs: parts.commitIntervalMs,
    clusterHash: parts.clusterHash,
    nonce: planOf === null ? 'none' : ({ partition }): string => planOf(partition),
    commitsStart: planOf !== null,
    parked: new Set(),
    onGap: 'earliest',
    barrierMs: parts.barrierMs,
    pressure: {
      partitionRecords: PARTITION_RECORDS,
      partitionSpan: buffer.maxSpan,
      flowRecords: buffer.maxRecords,
      flowBytes: buffer.maxBytes,
    },
  });
}

async function untilEnded(clock: Clock, look: () => PassEnd['do'] | null): Promise<PassEnd['do']> {
  for (;;) {
    await pause(clock, LOOK_EVERY_MS);
    const ended = look();
    if (ended !== null) return ended;
  }
}

type Partitions = ReturnType<Engine['status']>['partitions'];

function isSettled(spans: Spans, partitions: Partitions): boolean {
  return [...spans].every(([partition, { from, end }]) => {
    const at = partitions.find((of) => of.partition === partition);
    return at === undefined ? from >= end : at.buffered === 0 && at.committable >= end;
  });
}

/** `isKept`: by the group; else nothing is lost by not waiting. */
function isCommitted(spans: Spans, partitions: Partitions, isKept: boolean): boolean {
  if (!isKept) return true;
  return partitions.every(({ partition, committed }) => (committed ?? 0n) >= (spans.get(partition)?.end ?? 0n));
}

function sizeOf(spans: Spans): number {
  return [...spans.values()].reduce((sum, { from, end }) => sum + Math.max(0, Number(end - from)), 0);
}

function leftOf(spans: Spans, partitions: Partitions): number {
  let left = 0;
  for (const [partition, { from, end }] of spans) {
    const at = partitions.find((of) => of.partition === partition)?.committable ?? from;
    left += Math.max(0, Number(end - (at > from ? at : from)));
  }
  return left;
}
