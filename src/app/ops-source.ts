import { type OpsSource } from '../edges/http-server/ops.ts';
import { type Health } from '../telemetry/health.ts';
import { type Metrics } from '../telemetry/metrics.ts';

/** What the operations port serves. */
export function opsSourceOf(
  health: Pick<Health, 'live' | 'ready' | 'readyOf' | 'status'>,
  metrics: Pick<Metrics, 'text'>,
): OpsSource {
  return {
    live: () => health.live(),
    ready: () => health.ready(),
    readyOf: (flow) => health.readyOf(flow),
    status: () => health.status(),
    metrics: async () => await metrics.text(),
  };
}
