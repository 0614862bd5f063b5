import { LRUCache } from 'lru-cache';
import { type Type } from 'avsc';
import { type SchemaId, type Schemas } from '../../engine/ports.ts';
import { type Clock } from '../../kernel/clock.ts';
import { type HoldCause } from '../../kernel/outcome.ts';
import { type LookUp } from './look-up.ts';

/** What is known of a schema id. `absent`: the registry has said so twice while it was well. */
export type KnownSchema =
  | { readonly do: 'type'; readonly type: Type }
  | { readonly do: 'unreadable' }
  | { readonly do: 'absent'; readonly sinceMs: number };

type Fetched = Awaited<ReturnType<Schemas['fetch']>>;

export interface KnownSchemasParts {
  readonly lookUp: (id: SchemaId) => Promise<LookUp>;
  /** Whether the registry is there with what it is known to hold: a 404 of any other says nothing. */
  readonly isWell: () => Promise<boolean>;
  readonly clock: Clock;
}

/** Ids in memory; the least recently used go first and are fetched again. */
const MAX_IDS = 1000;
const SECOND_LOOK_MS = 5000;
/** How long an absent id stays so; then a producer may have registered it. */
const ABSENT_MS = 60_000;
const WAIT_MS = { first: 1000, most: 15_000 } as const;

/**
 * Fetches schemas, each once, and remembers them. An id is `absent` only after two 404s at least 5 s apart, the registry
 * being well at the second; everything else that is not a schema is a wait, since an outage says nothing of a record.
 */
export class KnownSchemas implements Schemas {
  readonly #parts: KnownSchemasParts;
  readonly #known = new LRUCache<SchemaId, KnownSchema>({ max: MAX_IDS });
  /** When an id was first answered with 404. */
  readonly #missedMs = new LRUCache<SchemaId, number>({ max: MAX_IDS });
  readonly #flights = new Map<SchemaId, Promise<Fetched>>();
  #failures = 0;

  constructor(parts: KnownSchemasParts) {
    this.#parts = parts;
  }

  /** Undefined: has to be fetched. */
  get(id: SchemaId): KnownSchema | undefined {
    const known = this.#known.get(id);
    if (known?.do !== 'absent') return known;
    return this.#parts.clock.monotonicMs() - known.sinceMs < ABSENT_MS ? known : undefined;
  }

  /** Those who ask for an id that is being fetched share the answer. */
  async fetch(id: SchemaId): Promise<Fetched> {
    if (this.get(id) !== undefined) return { do: 'ready' };
    const flight = this.#flights.get(id) ?? this.#fly(id);
    return await flight;
  }

  #fly(id: SchemaId): Promise<Fetched> {
    const flight = this.#fetch(id).finally(() => {
      this.#flights.delete(id);
    });
    this.#flights.set(id, flight);
    return flight;
  }

  async #fetch(id: SchemaId): Promise<Fetched> {
    const found = await this.#parts.lookUp(id);
    switch (found.do) {
      case 'type':
      case 'unreadable':
        return this.#ready(id, found);
      case 'absent':
        return await this.#absent(id);
      case 'failed':
        return this.#failed();
    }
  }

  #ready(id: SchemaId, known: KnownSchema): Fetched {
    this.#failures = 0;
    this.#missedMs.delete(id);
    this.#known.set(id, known);
    return { do: 'ready' };
  }

  async #absent(id: SchemaId): Promise<Fetched> {
    const nowMs = this.#parts.clock.monotonicMs();
    const firstMs = this.#missedMs.get(id);
    if (firstMs === undefined) this.#missedMs.set(id, nowMs);
    const leftMs = SECOND_LOOK_MS - (nowMs - (firstMs ?? nowMs));
    if (leftMs > 0) return wait(leftMs, 'schema_pending');
    if (!(await this.#parts.isWell())) return this.#failed();
    return this.#ready(id, { do: 'absent', sinceMs: this.#parts.clock.monotonicMs() });
  }

  #failed(): Fetched {
    const forMs = Math.min(WAIT_MS.first * 2 ** this.#failures, WAIT_MS.most);
    this.#failures = Math.min(this.#failures + 1, 10);
    return wait(forMs, 'registry');
  }
}

function wait(forMs: number, why: HoldCause): Fetched {
  return { do: 'wait', forMs, why };
}
