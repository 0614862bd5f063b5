import { type Certificate } from '../edges/http-server/certificate.ts';
import { type HttpServer } from '../edges/http-server/server.ts';
import { startWebhookServer } from '../edges/http-server/webhooks.ts';
import { type ReleaseStack } from '../lifecycle/release-stack.ts';
import { fanOut } from '../telemetry/fan-out.ts';
import { type Metrics } from '../telemetry/metrics.ts';
import { WebhookFailures } from '../telemetry/webhook-failures.ts';
import { createReviews, type ReviewsParts } from './reviews.ts';
import { followWebhookCertificate } from './webhook-certificate.ts';

export interface WebhookPortParts extends ReviewsParts {
  /** Null: plain HTTP. */
  readonly certificate: Certificate | null;
  readonly metrics: Pick<Metrics, 'serving'>;
  /** Where what is opened here is put, to be closed in its turn. */
  readonly opened: ReleaseStack;
}

/** Listens for webhooks, with a certificate that is followed. Rejects with PORT_TAKEN. */
export async function openWebhookPort(parts: WebhookPortParts): Promise<HttpServer> {
  const { config, certificate, metrics, opened, clock, emit } = parts;
  const { webhook } = config;
  const failures = new WebhookFailures(clock, emit);
  opened.push('webhook failures', async () => {
    failures.stop();
    await Promise.resolve();
  });
  const receiver = createReviews({ ...parts, emit: fanOut(emit, failures.hear) });
  const server = await startWebhookServer(
    {
      ...webhook,
      certificate,
      onTlsFailed: (why) => {
        emit('webhook_tls_failed', { why });
      },
    },
    {
      handle: async (request) => await metrics.serving(receiver.handle(request)),
      refuse: (why) => receiver.refuse(why),
    },
  );
  opened.push('webhook server', async () => {
    await server.close();
  });
  if (webhook.tls === null || certificate === null) return server;
  const renew = (renewed: Certificate): void => {
    server.renew(renewed);
  };
  const unwatch = followWebhookCertificate(webhook.tls, certificate, { clock, emit, renew });
  opened.push('webhook certificate', async () => {
    unwatch();
    await Promise.resolve();
  });
  return server;
}
