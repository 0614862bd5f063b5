import { type Tenure } from '../../engine/ports.ts';
import { type ClosedBy } from '../../kernel/emit.ts';
import { Fault } from '../../kernel/fault.ts';
import { type HoldCause, type Letter } from '../../kernel/outcome.ts';
import { type TraceContext } from '../../kernel/trace-context.ts';
import { bodyBytes } from './body.ts';
import { type Trouble } from './trouble.ts';

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
      readonly afterMs: number | null;
      /** Such a wait is not shortened by chance. */
      readonly fixed: boolean;
      /** How long it should wait at least, whatever else is said. */
      readonly restMs?: number;
      /** What it has been through now; absent: what it had been before. */
      readonly trouble?: Trouble;
      /** What went wrong, by name; empty or absent: not known. */
      readonly error?: string;
    }
  | { readonly do: 'release' };

/** An update that is to be sent. */
export interface Sendable {
  readonly transId: string;
  readonly fragment: Buffer;
  readonly tenure: Tenure;
  readonly trouble: Trouble;
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
  /** An id has left its batch. */
  readonly onFreed: (transId: string) => void;
  /** `due` has changed outside of a call. */
  readonly onChanged: () => void;
}

interface Pending extends Member {
  fail(error: unknown): void;
}

/**
 * Gathers updates into batches and sends a bounded number of them at once, while they may be sent. No id is ever in two batches, or twice in
 * one, between its `add` and its end. Owns no timer: the age is looked at in `tick`.
 *
 * A batch is open (taking updates), then ready (closed, waiting for a place in flight), then in flight.
 */
export class Batches {
  readonly #options: BatchesOptions;
  readonly #limits: BatchLimits;
  /** Every update that is open, ready or in flight, by id. */
  readonly #updates = new Map<string, Pending>();
  #open: Pending[] = [];
  #openBytes = 0;
  #openSinceMs = 0;
  /** How many updates the open batch may hold. */
  #openMost: number;
  #ready: (Pick<ClosedBatch, 'closedBy' | 'openedMs'> & { readonly members: readonly Pending[] })[] = [];
  #inFlight = 0;
  #joins = 0;
  #isStopping = false;
  /** Of a body; lower for a while after the service has refused one as too large. */
  #maxBytes: number;

  constructor(options: BatchesOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#maxBytes = options.limits.maxBytes;
    this.#openMost = options.limits.maxRecords;
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

  /** Adds to the open batch; resolves with what became of the update. Its id must not be held. */
  async add(update: Sendable, nowMs: number): Promise<UpdateEnd> {
    return await new Promise<UpdateEnd>((resolve, reject) => {
      this.#enter(this.#toPending(update, resolve, reject), nowMs);
    });
  }

  /** Whether a batch is ready, has a place in flight, and may not be sent. */
  get isHeldBack(): boolean {
    return this.#ready.length > 0 && this.#inFlight < this.#limits.inFlight;
  }

  /** How many updates are in no batch under way. */
  get unsent(): number {
    return this.#ready.reduce((sum, { members }) => sum + members.length, this.#open.length);
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
    while (this.#inFlight < this.#limits.inFlight && this.#ready.length > 0 && this.#options.maySend())
      this.#sendNext();
    // Nobody waits for a service that is ill: what is given back is sent after the next start.
    if (this.#isStopping && this.#inFlight === 0 && this.#ready.length > 0) this.release();
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
    const unsent = [...this.#ready.flatMap((batch) => batch.members), ...this.#open];
    this.#ready = [];
    this.#empty();
    for (const member of unsent) member.end({ do: 'release' });
  }

  #toPending(update: Sendable, resolve: (end: UpdateEnd) => void, reject: (error: unknown) => void): Pending {
    const { transId, fragment, tenure, trouble, trace = null } = update;
    const leave = (then: () => void): void => {
      if (this.#updates.get(transId) !== pending) return;
      this.#updates.delete(transId);
      then();
      this.#options.onFreed(transId);
    };
    const pending: Pending = {
      transId,
      fragment,
      tenure,
      trouble,
      trace,
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
    const { length } = member.fragment;
    const maxBytes = this.#maxBytes;
    if (bodyBytes(this.#open.length + 1, this.#openBytes + length) > maxBytes) this.#close('bytes');
    if (this.#open.length >= Math.min(this.#openMost, member.trouble.mates)) this.#close('records');
    if (this.#open.length === 0) this.#openSinceMs = nowMs;
    this.#updates.set(member.transId, member);
    this.#open.push(member);
    this.#openMost = Math.min(this.#openMost, member.trouble.mates);
    this.#openBytes += length;
    if (this.#open.length >= this.#openMost) this.#close('records');
    else if (bodyBytes(this.#open.length, this.#openBytes) >= maxBytes) this.#close('bytes');
  }

  #empty(): void {
    this.#open = [];
    this.#openBytes = 0;
    this.#openMost = this.#limits.maxRecords;
  }

  /** Takes an update out of the open batch or a ready one; false: its bytes may be under way. */
  #takeOut(member: Pending): boolean {
    const before = this.#open.length;
    this.#open = this.#open.filter((other) => other !== member);
    if (this.#open.length < before) {
      this.#openBytes -= member.fragment.length;
      return true;
    }
    const index = this.#ready.findIndex((batch) => batch.members.includes(member));
    const batch = this.#ready[index];
    if (batch === undefined) return false;
    this.#ready[index] = { ...batch, members: batch.members.filter((other) => other !== member) };
    return true;
  }

  #close(closedBy: ClosedBy): void {
    if (this.#open.length === 0) return;
    this.#ready.push({ members: this.#open, closedBy, openedMs: this.#openSinceMs });
    this.#empty();
    this.pump();
  }

  #sendNext(): void {
    const next = this.#ready.shift();
    if (next === undefined) return;
    const members = next.members.filter((member) => member.tenure.phase !== 'lost');
    for (const member of next.members) if (!members.includes(member)) member.end({ do: 'release' });
    if (members.length === 0) return;
    this.#inFlight += 1;
    void this.#send({ ...next, members });
  }

  async #send(batch: Omit<ClosedBatch, 'mayGoOn'> & { readonly members: readonly Pending[] }): Promise<void> {
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
    this.pump();
    this.#options.onChanged();
  }
}
