import { type FenceFeed } from '../edges/kafka/fence-feed.ts';
import { type SchemaRegistryEdge } from '../edges/schema-registry/registry.ts';
import { type EngineStatus } from '../engine/ports.ts';
import { type GateReport } from '../resilience/ports.ts';
import { type MeteredWriter } from '../telemetry/metered-writer.ts';
import { type Running } from '../telemetry/running.ts';
import { type Flows } from './flows.ts';

/** What counts while a connector runs, and is read when `/status` or the metrics are asked for; parts come as they are opened. */
export class Instruments {
  /** The consumer group. */
  readonly #group: string;
  engine: { status(): EngineStatus } | null = null;
  flows: Pick<Flows, 'api' | 'gates' | 'scores' | 'updates'> | null = null;
  registry: Pick<SchemaRegistryEdge, 'exchanges' | 'fieldsDropped'> | null = null;
  writer: Pick<MeteredWriter, 'report'> | null = null;
  fence: Pick<FenceFeed, 'heartbeatAtMs'> | null = null;

  constructor(group: string) {
    this.#group = group;
  }

  /** Null as long as (or where) no engine runs. */
  status(): EngineStatus | null {
    return this.engine?.status() ?? null;
  }

  gates(): readonly GateReport[] {
    return this.flows === null ? [] : [...this.flows.gates.values()].map((gate) => gate.report());
  }

  running(): Omit<Running, 'webhooks'> {
    return {
      engine: this.status(),
      gates: this.gates(),
      group: this.#group,
      registry: this.registry?.exchanges() ?? [],
      fieldsDropped: this.registry?.fieldsDropped() ?? 0,
      writes: this.writer?.report() ?? [],
      heartbeatAtMs: this.fence?.heartbeatAtMs ?? null,
      ...(this.flows === null ? NO_FLOWS : runningOf(this.flows)),
    };
  }
}

type OfFlows = Pick<Running, 'service' | 'session' | 'scores' | 'updatesMaybeSent'>;

const NO_FLOWS: OfFlows = { service: [], session: null, scores: null, updatesMaybeSent: null };

function runningOf({ api, scores, updates }: Pick<Flows, 'api' | 'scores' | 'updates'>): OfFlows {
  return { service: api.exchanges(), session: api.session(), scores, updatesMaybeSent: updates?.maybeSent ?? null };
}
