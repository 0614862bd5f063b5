import { Fault } from '../kernel/fault.ts';

const ID = /^[A-Za-z0-9][\w.-]{0,63}$/;
/** Of the group that looks for what is newer. */
const INDEX = '-index';

/** The consumer group of a replay. Throws `USAGE` for an id that cannot be one, or that is the live group's name. */
export function groupOfReplay(liveGroupId: string, id: string): string {
  checkId(liveGroupId, id);
  return `${liveGroupId}-replay-${id}`;
}

/** The consumer group of a redrive. Throws `USAGE` as `groupOfReplay` does. */
export function groupOfRedrive(liveGroupId: string, id: string): string {
  checkId(liveGroupId, id);
  return `${liveGroupId}-redrive-${id}`;
}

function checkId(liveGroupId: string, id: string): void {
  if (!ID.test(id))
    throw new Fault(
      'USAGE',
      '--id: give up to 64 letters, digits, dots, dashes and underscores, a letter or a digit first.',
    );
  if (id === liveGroupId)
    throw new Fault('USAGE', `--id: ${id} is the group of the connector itself, which a replay never touches.`);
  if (id.endsWith(INDEX)) throw new Fault('USAGE', `--id: no id ends with ${INDEX}.`);
}

/** The group of the same replay that looks for what is newer; it keeps nothing. */
export function indexGroupOf(groupId: string): string {
  return `${groupId}${INDEX}`;
}

/** An id for a replay that was given none: when it began, and something of chance (0 to 1) for two in a second. */
export function someId(startedAt: string, drawn: number): string {
  const digits = startedAt.replaceAll(/[-:]/g, '').replace(/(\.\d+)?Z$/, '');
  return `${digits.toLowerCase()}-${Math.floor(drawn * 36 ** 3)
    .toString(36)
    .padStart(3, '0')}`;
}

/** What else is in the same cluster, so that it is not taken for status updates. */
export interface OtherTopics {
  readonly created: string;
  readonly reviews: string;
  readonly scores: string | null;
  readonly deadLetterSuffix: string;
}

/** Throws `USAGE` for a topic that holds no status updates. */
export function checkTopic(topic: string, { created, reviews, scores, deadLetterSuffix }: OtherTopics): void {
  if (topic === created)
    throw new Fault(
      'USAGE',
      `--topic: ${topic} holds payments, and a replay sends status updates: to score payments twice is not offered.`,
    );
  if (topic === reviews || topic === scores)
    throw new Fault('USAGE', `--topic: ${topic} is written by the connector; a replay reads status updates.`);
  if (topic.endsWith(deadLetterSuffix))
    throw new Fault('USAGE', `--topic: ${topic} holds dead letters: fraud-connector dlq redrive sends those.`);
}
