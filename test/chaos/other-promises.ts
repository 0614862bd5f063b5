import { type Letter, type Login, type TopicContents } from './sightings.ts';

/** What became of the webhooks: each figure as the number of times a promise was broken, and what is only counted. */
export interface MailFound {
  readonly webhooks: number;
  readonly forged: number;
  readonly reviewRecords: number;
  /** Answered 200 and not in the topic. */
  readonly notKept: number;
  /** Forged ones that were answered 200, or are in the topic. */
  readonly unauthenticated: number;
  /** Never answered 200, although the sender came again. */
  readonly notDelivered: number;
  /** Records of events beyond one for each. Counted only: an event may be published twice, with one `event_id`. */
  readonly reviewsTwice: number;
}

export function reckonMail(
  letters: readonly Letter[],
  { reviewed, reviewRecords }: Pick<TopicContents, 'reviewed' | 'reviewRecords'>,
): MailFound {
  const forged = letters.filter(({ isForged }) => isForged);
  const valid = letters.filter(({ isForged }) => !isForged);
  return {
    webhooks: valid.length,
    forged: forged.length,
    reviewRecords,
    notKept: valid.filter((each) => isAccepted(each) && !reviewed.has(each.id)).length,
    unauthenticated: forged.filter((each) => isAccepted(each) || reviewed.has(each.id)).length,
    notDelivered: valid.filter((each) => !isAccepted(each)).length,
    reviewsTwice: reviewRecords - reviewed.size,
  };
}

function isAccepted({ answers }: Letter): boolean {
  return answers.includes(200);
}

/** Logins of one process that were asked for while another one of it was open. */
export function loginsAtOnce(logins: readonly Login[]): number {
  return logins.filter((now, index) =>
    logins
      .slice(0, index)
      .some(({ owner, endedMs }) => owner === now.owner && (endedMs === null || endedMs > now.startedMs)),
  ).length;
}

/** The most logins of one process within a minute. */
export function mostLoginsAMinute(logins: readonly Login[]): number {
  return Math.max(
    0,
    ...logins.map(
      (first) =>
        logins.filter(
          ({ owner, startedMs }) =>
            owner === first.owner && startedMs >= first.startedMs && startedMs < first.startedMs + 60_000,
        ).length,
    ),
  );
}

/** How many of these texts are in what the connectors printed: secrets, and ids of payments. */
export function leaksOf(output: string, secrets: readonly string[], ids: ReadonlySet<string>): number {
  const spelled = secrets.filter((secret) => output.includes(secret)).length;
  const words = new Set(output.match(/[\w-]{6,}/gu) ?? []);
  let found = 0;
  for (const word of words) if (ids.has(word)) found += 1;
  return spelled + found;
}
