import { type Terminal } from '../edges/system/terminal.ts';
import { ReleaseStack } from '../lifecycle/release-stack.ts';
import { StopRequest } from '../lifecycle/stop-request.ts';
import { startKafka } from '../sandbox/broker/start.ts';
import { startScreeningService } from '../sandbox/service/screening-service.ts';

export interface SandboxOptions {
  readonly terminal: Terminal;
  readonly port: number;
  /** A real broker and registry, too. */
  readonly kafka: boolean;
  readonly webhookUrl: string | null;
  /** Retries of webhooks come this many times sooner. */
  readonly speed: number;
  /** Listens on every address instead of loopback only. */
  readonly allowRemote: boolean;
}

/** The screening service of the spec by itself, until a stop is asked for; prints what a client needs, as environment. */
export async function runSandbox(options: SandboxOptions): Promise<number> {
  const { terminal, port, webhookUrl, speed } = options;
  const opened = new ReleaseStack();
  const stop = new StopRequest();
  const deaf = terminal.onStop((signal) => {
    if (!stop.ask(signal)) terminal.exit(1);
  });
  try {
    const host = options.allowRemote ? '0.0.0.0' : '127.0.0.1';
    const service = await startScreeningService({ host, port, webhookUrl, speed });
    opened.push('screening service', async () => {
      await service.close();
    });
    terminal.say(`SERVICE_BASE_URL=${service.baseUrl}`);
    terminal.say(`SERVICE_USERNAME=${service.user}`);
    terminal.say(`SERVICE_PASSWORD=${service.password}`);
    terminal.say(`WEBHOOK_SECRETS=${service.webhookSecret}`);
    if (options.kafka) {
      const say = (line: string): void => {
        terminal.complain(line);
      };
      const kafka = await startKafka({ say, env: terminal.env });
      opened.push('broker and registry', async () => {
        await kafka.stop();
      });
      terminal.say(`KAFKA_BROKERS=${kafka.brokers.join(',')}`);
      terminal.say(`SCHEMA_REGISTRY_URL=${kafka.registryUrl}`);
    }
    if (options.allowRemote) {
      terminal.complain('It listens on every address of this machine, and nothing protects its control.');
    }
    terminal.complain(
      `The screening service is ready; what it saw: ${service.baseUrl}/sandbox/ledger, its webhooks: ${service.baseUrl}/sandbox/activity. Ctrl-C ends it.`,
    );
    await stop.asked();
    return 0;
  } finally {
    for (const { what, error } of await opened.release()) terminal.complain(`${what} could not be closed: ${error}`);
    deaf();
  }
}
