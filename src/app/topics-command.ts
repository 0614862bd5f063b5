import { type Config } from '../config/config.ts';
import { createKafkaAdmin, type KafkaAdmin } from '../edges/kafka/admin.ts';
import { type Terminal } from '../edges/system/terminal.ts';
import { type Clock } from '../kernel/clock.ts';
import { kafkaOf } from './parts.ts';
import { createTopics, findTopics, type TopicFinding } from './topics.ts';

export interface CommandParts {
  readonly config: Config;
  readonly terminal: Terminal;
  readonly clock: Clock;
}

const MOST_COPIES = 3;

/** Says what is there of the topics of a configuration; 1: something is missing. */
export async function checkTopics(parts: CommandParts): Promise<number> {
  return await withAdmin(parts, async (admin) => {
    const findings = await findTopics(admin, parts.config);
    for (const finding of findings) parts.terminal.say(lineOf(finding));
    if (findings.every(({ partitions }) => partitions > 0)) return 0;
    parts.terminal.say('Create what is missing with: fraud-connector topics create');
    return 1;
  });
}

/** Creates what is missing of the topics of a configuration; `replication` null: as many copies as is usual here. */
export async function makeTopics(
  parts: CommandParts,
  size: { readonly partitions: number; readonly replication: number | null },
): Promise<number> {
  return await withAdmin(parts, async (admin) => {
    const replication = size.replication ?? Math.min(MOST_COPIES, await admin.brokerCount());
    const created = await createTopics(admin, parts.config, { partitions: size.partitions, replication });
    for (const finding of created) parts.terminal.say(lineOf(finding, 'created '));
    if (created.length === 0) parts.terminal.say('All topics are there already.');
    return 0;
  });
}

function lineOf({ topic, partitions, for: use }: TopicFinding, done = ''): string {
  return partitions === 0
    ? `✗ ${topic} is missing (${use})`
    : `✓ ${done}${topic}: ${String(partitions)} partition${partitions === 1 ? '' : 's'} (${use})`;
}

async function withAdmin(parts: CommandParts, work: (admin: KafkaAdmin) => Promise<number>): Promise<number> {
  const admin = createKafkaAdmin(kafkaOf(parts.config, () => undefined));
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}
