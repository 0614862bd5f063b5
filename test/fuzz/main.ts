import { randomInt } from 'node:crypto';
import { readArguments, type FuzzArguments } from './arguments.ts';
import { startKafka } from '../../src/sandbox/broker/start.ts';
import { type CampaignOptions, type Outcome, runCampaign } from './campaign.ts';
import { keep } from './corpus.ts';
import { runDyingBrokers } from './dying-brokers.ts';
import { KafkaReceiver } from './kafka-receiver.ts';
import { reportLines } from './report.ts';
import { runSlow } from './slow.ts';

/** Connections of a round. */
const ROUND = 6000;

const say = (line: string): void => {
  console.log(line);
};
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    stop.abort();
  });
}
const options = readArguments(process.argv.slice(2), randomInt(2 ** 31));
if (typeof options === 'string') {
  console.error(options);
  process.exitCode = 2;
} else process.exitCode = (await run(options)) ? 0 : 1;

async function runOnKafka(attack: CampaignOptions): Promise<Outcome> {
  const kafka = await startKafka({ env: process.env, say });
  try {
    return await runCampaign({ ...attack, target: await KafkaReceiver.start(kafka) });
  } finally {
    await kafka.stop();
  }
}

async function run(chosen: FuzzArguments): Promise<boolean> {
  switch (chosen.attack) {
    case 'requests': {
      const { seed, only } = chosen;
      say(`Seed ${String(seed)}.`);
      const limits = only ? { round: 1, requests: 1, concurrency: 1 } : { round: ROUND };
      const attack = { ...chosen, ...limits, say, signal: stop.signal };
      const outcome = await (chosen.kafka ? runOnKafka(attack) : runCampaign(attack));
      for (const line of reportLines(seed, outcome)) say(line);
      if (process.env['CI'] !== 'true') for (const failure of outcome.failures) say(`kept in ${keep(failure)}`);
      return outcome.failures.length + outcome.faults.length === 0;
    }
    case 'slow': {
      const outcome = await runSlow({ ...chosen, maxConnections: null });
      say(JSON.stringify(outcome, null, 2));
      return outcome.inOneSecond === outcome.sent && outcome.lost === 0;
    }
    case 'broker': {
      const outcome = await runDyingBrokers({ ...chosen, say });
      say(JSON.stringify(outcome, null, 2));
      return outcome.delivered === chosen.events && outcome.lost + outcome.untold + outcome.torn === 0;
    }
  }
}
