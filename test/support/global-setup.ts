import { type TestProject } from 'vitest/node';
import { startKafka } from '../../src/sandbox/broker/start.ts';
import { ConnectorProcess } from './connector-process.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The broker and the registry that all files of the project `real` share. */
    kafka: { readonly brokers: string[]; readonly registryUrl: string };
  }
}

/** Starts one broker and one registry for the whole project, and ends them after its last file. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = performance.now();
  // Without a live handle, a setup that waits ends vitest with exit 0 and not one test run.
  const alive = setInterval(() => undefined, 1000);
  try {
    // What is compiled is kept at the end of a process: those that tests start, and measure, find it.
    await (
      await ConnectorProcess.start({}, ['--version'])
    ).ended;
    const kafka = await startKafka({
      env: process.env,
      say: (line) => {
        console.log(line);
      },
    });
    console.log(`Kafka and registry (${kafka.how}) ready after ${String(Math.round(performance.now() - started))} ms`);
    project.provide('kafka', { brokers: kafka.brokers, registryUrl: kafka.registryUrl });
    return async () => {
      await kafka.stop();
    };
  } finally {
    clearInterval(alive);
  }
}
