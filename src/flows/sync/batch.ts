import { type Tenure } from '../../engine/ports.ts';
import { type ClosedBy } from '../../kernel/emit.ts';
import { Fault } from '../../kernel/fault.ts';
import { type HoldCause, type Letter } from '../../kernel/outcome.ts';
import { type RecordPosition } from '../../kernel/position.ts';
import { type TraceContext } from '../../kernel/trace-context.ts';
import { repeatRoom } from '../../resilience/attribution.ts';
import { bodyBytes } from './body.ts';
import { type UpdateState } from './search.ts';

/** No service is so strict: below this a refusal for size is about one update. */
const LEAST_BYTES = 1_024;
/** Per accepted batch, after a refusal for size. */
const GROWTH = 1.1;

/** What became of one update in a batch. `release`: it was not sent. */
export type UpdateEnd =
  | { readonly do: 'accepted' }
  | { readonly do: 'letter'; readonly letter: Letter }
  | {
      /** Not decided. */
      readonly do: 'later';
      readonly why: HoldCause;
      readonly forMs: number;
      /** Absent: as before. */
      readonly state?: UpdateState;
      /** What went wrong with it, by name; empty or absent: not known. */
      readonly error?: string;
    }
  | { readonly do: 'release' };

/** An update that is to be sent. */
export interface Sendable {
  readonly transId: string;
  readonly fragment: Buffer;
  readonly tenure: Tenure;
  readonly record: RecordPosition;
  readonly state: UpdateState;
  /** Where it is in a trace that is told; null or absent: in none. */
  readonly trace?: TraceContext | null;
}

/** An update in a batch. `end` tells what became of it, once; its id may be sent again from then on. */
export interface Member extends Sendable {
  end(end: UpdateEnd): void;
}

export interface ClosedBatch {
  readonly members: readonly Member[];
  readonly closedBy: ClosedBy;
  /** When its first update came, monotonic. */
  readonly openedMs: number;
  /** False once a join is near: what has not been sent yet goes back. */
  readonly mayGoOn: () => boolean;
}

export interface BatchLimits {
  readonly maxRecords: number;
  /** Of the body. An update that is longer by itself goes alone. */
  readonly maxBytes: number;
  /** From its first update on. */
  readonly maxAgeMs: number;
  readonly inFlight: number;
}

export interface BatchesOptions {
  readonly limits: BatchLimits;
  /** Ends every member of the batch, or fails: then the rest fail alike. */
  readonly send: (batch: ClosedBatch) => Promise<void>;
  /** Whether a batch may be sent now; asked again by `pump`. */
  readonly maySend: () => boolean;
  /** Whether what may be sent now is a probe: one update. */
  readonly isProbing: () => boolean;
  /** An id has left its batch. */
  readonly onFreed: (transId: string) => void;
  /** `due` has changed outside of a call. */
  readonly onChanged: () => void;
}

interface Pending extends Member {
  fail(error: unknown): void;
}

type Closed = Pick<ClosedBatch, 'closedBy' | 'openedMs'> & { readonly members: readonly Pending[] };

/**
 * Gathers updates into batches and sends a bounded number of them at once, while they may be sent. No id is ever in two
 * batches, or twice in one, between its `add` and its end. Owns no timer: the age is looked at in `tick`.
 *
 * A batch is open (taking updates), then ready (closed, waiting for a place in flight), then in flight. An update that
 * was found to be what fails is a ready batch of its own at once; such batches leave three quarters of the places to others.
 */
export class Batches {
  readonly #options: BatchesOptions;
  readonly #limits: BatchLimits;
  /** Every update that is open, ready or in flight, by id. */
  readonly #updates = new Map<string, Pending>();
  #open: Pending[] = [];
  #openBytes = 0;
  #openSinceMs = 0;
  #ready: Closed[] = [];
  /** Ready batches of one update that goes alone. */
  #lone: Closed[] = [];
  #inFlight = 0;
  #loneInFlight = 0;
  /** Whether the batch that was sent last was of an update that goes alone. */
  #loneWasLast = false;
  #joins = 0;
  #isStopping = false;
  /** Of a body; lower for a while after the service has refused one as too large. */
  #maxBytes: number;

  constructor(options: BatchesOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#maxBytes = options.limits.maxBytes;
  }

  /** Whether an update of this id is open, ready or in flight. One of a lost partition is put out first, unless its bytes are under way. */
  holds(transId: string): boolean {
    const known = this.#updates.get(transId);
    if (known?.tenure.phase === 'lost' && this.#takeOut(known)) known.end({ do: 'release' });
    return this.#updates.has(transId);
  }

  /** How many more updates are taken before one has to end. */
  room(): number {
    return (this.#limits.inFlight + 1) * this.#limits.maxRecords - this.#updates.size;
  }

  /** How many more updates that go alone are taken before one has to end. */
  get loneRoom(): number {
    return this.#loneRoom(this.#limits.inFlight, false) - this.#lone.length;
  }

  /** Adds to the open batch; resolves with what became of the update. Its id must not be held. */
  async add(update: Sendable, nowMs: number): Promise<UpdateEnd> {
    return await new Promise<UpdateEnd>((resolve, reject) => {
      this.#enter(this.#toPending(update, resolve, reject), nowMs);
    });
  }

  /** Whether something is ready, has a place in flight, and may not be sent. */
  get isHeldBack(): boolean {
    const ready = this.#options.isProbing() ? this.unsent : this.#ready.length + this.#lone.length;
    return ready > 0 && this.#inFlight < this.#limits.inFlight;
  }

  /** How many updates are in no batch under way. */
  get unsent(): number {
    return this.#ready.reduce((sum, { members }) => sum + members.length, this.#open.length + this.#lone.length);
  }

  /** When `tick` has to be called next; null: not before something changes. */
  due(): number | null {
    const isWaiting = this.#open.length > 0 && this.#inFlight < this.#limits.inFlight;
    return isWaiting ? this.#openSinceMs + this.#limits.maxAgeMs : null;
  }

  tick(nowMs: number): void {
    const dueMs = this.due();
    if (dueMs !== null && nowMs >= dueMs) this.#close('age');
    this.pump();
  }

  /** Sends what is ready, if it may be sent now. */
  pump(): void {
    while (this.isHeldBack && this.#options.maySend()) {
      const next = this.#options.isProbing() ? this.#takeProbe() : this.#takeNext();
      if (next === undefined) break;
      this.#start(next);
    }
    // Nobody waits for a service that is ill: what is given back is sent after the next start.
    if (this.#isStopping && this.#inFlight === 0 && this.#ready.length + this.#lone.length > 0) this.release();
  }

  /** Sends what is open, now or as soon as there is a place in flight; gives back what may not be sent. */
  flush(): void {
    this.#isStopping = true;
    this.#close('stop');
    this.pump();
  }

  /** The service has refused a body of so many bytes as too large: those to come are smaller. */
  tooLarge(bytes: number): void {
    this.#maxBytes = Math.max(LEAST_BYTES, Math.min(this.#maxBytes, Math.floor(bytes / 2)));
  }

  /** The service has accepted a batch: bodies may grow again. */
  fits(): void {
    if (this.#maxBytes < this.#limits.maxBytes)
      this.#maxBytes = Math.min(this.#limits.maxBytes, Math.ceil(this.#maxBytes * GROWTH));
  }

  /** Gives back what is not under way; what is ends by itself, without further calls. */
  release(): void {
    this.#joins += 1;
    const unsent = this.#unsent();
    this.#ready = [];
    this.#lone = [];
    this.#empty();
    for (const member of unsent) member.end({ do: 'release' });
  }

  #toPending(update: Sendable, resolve: (end: UpdateEnd) => void, reject: (error: unknown) => void): Pending {
    const leave = (then: () => void): void => {
      if (this.#updates.get(update.transId) !== pending) return;
      this.#updates.delete(update.transId);
      then();
      this.#options.onFreed(update.transId);
    };
    const pending: Pending = {
      ...update,
      end: (end) => {
        leave(() => {
          resolve(end);
        });
      },
      fail: (error) => {
        leave(() => {
          reject(error);
        });
      },
    };
    return pending;
  }

  #enter(member: Pending, nowMs: number): void {
    this.#updates.set(member.transId, member);
    if (isAlone(member)) {
      this.#lone.push({ members: [member], closedBy: 'records', openedMs: nowMs });
      this.pump();
      return;
    }
    const { length } = member.fragment;
    const maxBytes = this.#maxBytes;
    if (bodyBytes(this.#open.length + 1, this.#openBytes + length) > maxBytes) this.#close('bytes');
    if (this.#open.length === 0) this.#openSinceMs = nowMs;
    this.#open.push(member);
    this.#openBytes += length;
    if (this.#open.length >= this.#limits.maxRecords) this.#close('records');
    else if (bodyBytes(this.#open.length, this.#openBytes) >= maxBytes) this.#close('bytes');
    else if (this.#options.isProbing()) this.pump();
  }

  #empty(): void {
    this.#open = [];
    this.#openBytes = 0;
  }

  #unsent(): readonly Pending[] {
    return [...this.#lone, ...this.#ready].flatMap(({ members }) => members).concat(this.#open);
  }

  /** Takes an update out of the open batch or a ready one; false: its bytes may be under way. */
  #takeOut(member: Pending): boolean {
    const before = this.#open.length;
    this.#open = this.#open.filter((other) => other !== member);
    if (this.#open.length < before) {
      this.#openBytes -= member.fragment.length;
      return true;
    }
    const batches = isAlone(member) ? this.#lone : this.#ready;
    const index = batches.findIndex(({ members }) => members.includes(member));
    const batch = batches[index];
    if (batch === undefined) return false;
    const members = batch.members.filter((other) => other !== member);
    batches.splice(index, 1, ...(members.length === 0 ? [] : [{ ...batch, members }]));
    return true;
  }

  #close(closedBy: ClosedBy): void {
    if (this.#open.length === 0) return;
    this.#ready.push({ members: this.#open, closedBy, openedMs: this.#openSinceMs });
    this.#empty();
    this.pump();
  }

  #takeNext(): Closed | undefined {
    const othersWait = this.#ready.length + this.#open.length > 0;
    const free = this.#limits.inFlight - this.#inFlight;
    const isLone = this.#lone.length > 0 && this.#loneRoom(free, this.#loneWasLast && othersWait) > 0;
    return isLone ? this.#lone.shift() : this.#ready.shift();
  }

  /** The update that failed least often, the newest of those: it is the least likely to have a part in what fails. */
  #takeProbe(): Closed | undefined {
    let probe: Pending | undefined;
    for (const member of this.#unsent()) if (failures(member) <= failures(probe)) probe = member;
    if (probe === undefined || !this.#takeOut(probe)) return undefined;
    return { members: [probe], closedBy: 'records', openedMs: this.#openSinceMs };
  }

  /** How many updates that go alone may be sent: others may come at any moment, and find their places taken for a whole time-out. */
  #loneRoom(free: number, repeatWasLast: boolean): number {
    const { inFlight: limit } = this.#limits;
    return repeatRoom({ free, limit, repeatsRunning: this.#loneInFlight, untriedWaits: true, repeatWasLast });
  }

  #start(next: Closed): void {
    const members = next.members.filter(({ tenure }) => tenure.phase !== 'lost');
    for (const member of next.members) if (!members.includes(member)) member.end({ do: 'release' });
    const [first] = members;
    if (first === undefined) return;
    const lone = isAlone(first) ? 1 : 0;
    this.#inFlight += 1;
    this.#loneInFlight += lone;
    this.#loneWasLast = lone === 1;
    void this.#send({ ...next, members }, lone);
  }

  async #send(batch: Closed, lone: number): Promise<void> {
    const { members } = batch;
    const joins = this.#joins;
    try {
      await this.#options.send({ ...batch, mayGoOn: () => this.#joins === joins });
      if (members.some((member) => this.#updates.get(member.transId) === member))
        throw new Fault('INTERNAL', 'A batch was sent without an end for each of its updates.');
    } catch (error) {
      for (const member of members) member.fail(error);
    }
    this.#inFlight -= 1;
    this.#loneInFlight -= lone;
    this.pump();
    this.#options.onChanged();
  }
}

function failures(member: Pending | undefined): number {
  return member === undefined ? Infinity : (member.state.retry?.failures ?? 0);
}

function isAlone({ state }: Sendable): boolean {
  return state.aloneAt !== null;
}
