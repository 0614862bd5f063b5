import { type LedgerCounters, zeroCounters } from './ledger-counters.ts';
import { type StatusUpdate } from './update-rules.ts';

/** Updates kept of one transaction; later ones are only counted. */
const MAX_UPDATES = 16;
/** Batches kept, the newest. */
const MAX_BATCHES = 10_000;

/** A status update as it was accepted. `linked`: its transaction had been scored before. */
export interface LedgerUpdate {
  readonly status: string;
  readonly ts: string;
  readonly linked: boolean;
  readonly sequence: number;
}

/** All the service knows of one trans_id. Sequences come from one counter over all starts and ends of requests. */
export interface LedgerTransaction {
  readonly transId: string;
  readonly frgTransId: string;
  readonly custId: string | null;
  /** The number at the end of `order_id`; null: none. */
  readonly orderSequence: number | null;
  /** Scoring requests that came, carried out or not. */
  readonly requests: number;
  /** How often it was scored. */
  readonly scored: number;
  /** The newest `fraugster_approved`; null: not scored yet. */
  readonly decision: number | null;
  readonly firstStart: number;
  readonly lastStart: number;
  readonly lastEnd: number;
  readonly updateCount: number;
  readonly updates: readonly LedgerUpdate[];
  readonly reviews: number;
  readonly webhooksDelivered: number;
}

/** A PATCH that was accepted (`status` 200 to 299) or refused; 0: not carried out, with an answer that does not say so, or none. */
export interface LedgerBatch {
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly size: number;
  readonly bytes: number;
  readonly status: number;
}

/** A request that is being answered: what must be told to `ended` when its answer leaves or its client is gone. */
export type OpenRequest =
  | { readonly kind: 'score'; readonly entry: Entry; readonly customer: Customer | null; closed: boolean }
  | { readonly kind: 'sync'; readonly entries: readonly Entry[]; closed: boolean };

type Entry = { -readonly [K in keyof LedgerTransaction]: LedgerTransaction[K] } & {
  updates: LedgerUpdate[];
  openUpdates: number;
  byCard: boolean;
};

interface Customer {
  open: number;
  /** The transaction of the newest request that is open. */
  newest: Entry | null;
  /** The highest order sequence that was scored. */
  highest: number;
}

/** The counters of the ledger, and updates by status. */
export type LedgerSummary = Readonly<LedgerCounters> & {
  readonly updatesByStatus: Readonly<Record<string, number>>;
};

/**
 * Everything the service saw, to reckon what was lost, doubled or reordered. One small object a transaction: memory
 * grows with the number of transactions, never with what is repeated for one.
 */
export class Ledger {
  #sequence = 0;
  #made = 0;
  #counters = zeroCounters();
  readonly #byStatus = new Map<string, number>();
  readonly #transactions = new Map<string, Entry>();
  readonly #customers = new Map<string, Customer>();
  #batches: LedgerBatch[] = [];
  readonly #idPrefix: string;

  /** `idPrefix` begins every frg_trans_id, so that ids of two runs differ. */
  constructor(idPrefix: string) {
    this.#idPrefix = idPrefix;
  }

  count(counter: keyof LedgerCounters): void {
    this.#counters[counter] += 1;
  }

  /** A scoring request has come; whether it is carried out is told by `scored`. */
  scoreStarted(transId: string, custId: string | null, orderSequence: number | null): OpenRequest & { kind: 'score' } {
    const sequence = (this.#sequence += 1);
    const entry = this.#entry(transId);
    this.#counters.scoreRequests += 1;
    entry.requests += 1;
    entry.custId = custId;
    entry.orderSequence = orderSequence;
    if (entry.firstStart === 0) entry.firstStart = sequence;
    entry.lastStart = sequence;
    const customer = custId === null ? null : this.#customer(custId);
    if (customer !== null) {
      if (customer.open > 0) this.#counters[customer.newest === entry ? 'repeatOverlaps' : 'overlaps'] += 1;
      customer.open += 1;
      customer.newest = entry;
    }
    return { kind: 'score', entry, customer, closed: false };
  }

  scored(open: OpenRequest & { kind: 'score' }, decision: number, byCard = false): LedgerTransaction {
    const { entry, customer } = open;
    entry.byCard = byCard;
    entry.decision = decision;
    entry.scored += 1;
    this.#counters.scorings += 1;
    if (entry.scored > 1) {
      this.#counters.repeatedScorings += 1;
      return entry;
    }
    this.#counters.transactions += 1;
    if (customer !== null && entry.orderSequence !== null) {
      if (entry.orderSequence < customer.highest) this.#counters.disorders += 1;
      else customer.highest = entry.orderSequence;
    }
    return entry;
  }

  /** A PATCH with these ids has come; what was accepted of it is told by `updated`. */
  syncStarted(transIds: readonly string[]): OpenRequest & { kind: 'sync' } {
    const entries = transIds.map((transId) => this.#entry(transId));
    for (const entry of entries) {
      if (entry.openUpdates > 0) this.#counters.updateOverlaps += 1;
      entry.openUpdates += 1;
    }
    return { kind: 'sync', entries, closed: false };
  }

  /** The updates were accepted, in the order of the ids told to `syncStarted`; null: this one was not. */
  updated(open: OpenRequest & { kind: 'sync' }, updates: readonly (StatusUpdate | null)[]): void {
    for (const [index, update] of updates.entries()) {
      const entry = open.entries[index];
      if (update === null) this.#counters.refusedUpdates += 1;
      else if (entry !== undefined) this.#update(entry, update);
    }
  }

  batch(at: number, size: number, bytes: number, status: number): void {
    this.#counters.batches += 1;
    if (status < 200 || status > 299) this.#counters.refusedBatches += 1;
    this.#counters.batchBytes += bytes;
    this.#counters.largestBatch = Math.max(this.#counters.largestBatch, size);
    this.#batches.push({ sequence: (this.#sequence += 1), at, size, bytes, status });
    if (this.#batches.length >= 2 * MAX_BATCHES) this.#batches = this.#batches.slice(-MAX_BATCHES);
  }

  /** The answer is about to leave, or the client is gone. A second call does nothing. */
  ended(open: OpenRequest): void {
    if (open.closed) return;
    open.closed = true;
    if (open.kind === 'sync') {
      for (const entry of open.entries) entry.openUpdates -= 1;
      return;
    }
    open.entry.lastEnd = this.#sequence += 1;
    if (open.customer === null) return;
    open.customer.open -= 1;
    if (open.customer.open === 0) open.customer.newest = null;
  }

  reviewed(transId: string): void {
    this.#counters.reviews += 1;
    const entry = this.#transactions.get(transId);
    if (entry !== undefined) entry.reviews += 1;
  }

  webhookDelivered(transId: string): void {
    this.#counters.webhooksDelivered += 1;
    const entry = this.#transactions.get(transId);
    if (entry !== undefined) entry.webhooksDelivered += 1;
  }

  summary(): LedgerSummary {
    return { ...this.#counters, updatesByStatus: Object.fromEntries(this.#byStatus) };
  }

  transaction(transId: string): LedgerTransaction | null {
    return this.#transactions.get(transId) ?? null;
  }

  /** Whether this transaction was scored as one paid by credit card. */
  isByCard(transId: string): boolean {
    return this.#transactions.get(transId)?.byCard === true;
  }

  /** Every trans_id seen, those included that were only refused or only updated, in order of first sight. */
  transactions(): IterableIterator<LedgerTransaction> {
    return this.#transactions.values();
  }

  /** The newest batches (10,000 at least), oldest first. */
  batches(): readonly LedgerBatch[] {
    return this.#batches;
  }

  /** Forgets all but the numbers ids and sequences are made of. Requests that are open end without a trace. */
  reset(): void {
    this.#counters = zeroCounters();
    this.#byStatus.clear();
    this.#transactions.clear();
    this.#customers.clear();
    this.#batches = [];
  }

  #update(entry: Entry, update: StatusUpdate): void {
    const linked = entry.scored > 0;
    const { status, ts } = update;
    this.#counters.updates += 1;
    this.#counters[linked ? 'linked' : 'unlinked'] += 1;
    this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
    if (status === 'approved' && !update.hasAcqRefId) this.#counters.approvedWithoutAcqRefId += 1;
    if (linked && !entry.updates.some((known) => known.linked)) this.#counters.transactionsWithStatus += 1;
    const last = entry.updates.at(-1);
    if (entry.updates.some((known) => known.status === status && known.ts === ts)) this.#counters.repeatedUpdates += 1;
    else if (last !== undefined && Date.parse(ts) < Date.parse(last.ts)) this.#counters.backwardUpdates += 1;
    entry.updateCount += 1;
    const kept = { status, ts, linked, sequence: (this.#sequence += 1) };
    if (entry.updates.length < MAX_UPDATES) entry.updates.push(kept);
    // The newest one stays: a later update is compared with it.
    else entry.updates[MAX_UPDATES - 1] = kept;
  }

  #entry(transId: string): Entry {
    const known = this.#transactions.get(transId);
    if (known !== undefined) return known;
    const entry: Entry = {
      transId,
      frgTransId: `${this.#idPrefix}${(this.#made += 1).toString(36).padStart(7, '0')}`,
      custId: null,
      orderSequence: null,
      requests: 0,
      scored: 0,
      decision: null,
      firstStart: 0,
      lastStart: 0,
      lastEnd: 0,
      updateCount: 0,
      updates: [],
      reviews: 0,
      webhooksDelivered: 0,
      openUpdates: 0,
      byCard: false,
    };
    this.#transactions.set(transId, entry);
    return entry;
  }

  #customer(custId: string): Customer {
    const known = this.#customers.get(custId);
    if (known !== undefined) return known;
    const customer: Customer = { open: 0, newest: null, highest: -1 };
    this.#customers.set(custId, customer);
    return customer;
  }
}
