import { type Scenario } from '../schedule.ts';

/** A change to one file of the connector that breaks a promise. */
export interface Bug {
  readonly breaks: string;
  /** From the package's root on. */
  readonly file: string;
  /** Each text stands in the file exactly once. */
  readonly changes: readonly { readonly from: string; readonly to: string }[];
  /** A campaign in which it must be found out, and as what. */
  readonly scenario: Scenario;
  readonly foundAs: readonly string[];
}

/** Bugs that are easy to write. Each has a campaign that must not pass with it. */
export const BUGS = {
  commits_the_highest: {
    breaks: 'The highest offset seen is committed, whatever is unfinished below it.',
    file: 'src/engine/tracker.ts',
    changes: [
      { from: 'return this.#base + BigInt(this.#committable);', to: 'return this.next;' },
      { from: 'const origin = this.#committable;', to: 'if (this.#nextOffset >= 0) return; const origin = 0;' },
    ],
    scenario: 'kill',
    foundAs: ['notScored', 'notReported'],
  },
  settles_before_publish: {
    breaks: 'A payment is settled when it is scored; its score record is written a second later.',
    file: 'src/flows/scoring/publish.ts',
    changes: [
      {
        from: 'let published = await publishOnce(output, source, score, span);',
        to: "setTimeout(() => { void publishOnce(output, source, score, span); }, 1000); let published: Published = { do: 'written' };",
      },
    ],
    scenario: 'kill',
    foundAs: ['notPublished'],
  },
  forgets_on_revoke: {
    breaks: 'What is in flight before a rebalance is not waited for.',
    file: 'src/engine/engine.ts',
    changes: [{ from: 'await this.#still(this.#options.barrierMs);', to: '' }],
    scenario: 'clean',
    foundAs: ['doubledWithoutFault', 'twoOwners'],
  },
  two_of_a_key: {
    breaks: 'Two payments of a customer are scored at once.',
    file: 'src/flows/scoring/flow.ts',
    changes: [{ from: "this.#options.ordering === 'transaction' || record.key === null", to: 'true' }],
    scenario: 'kill',
    foundAs: ['overlaps'],
  },
  answers_before_kept: {
    breaks: 'A webhook is answered 200 before Kafka has acknowledged it.',
    file: 'src/reviews/bridge.ts',
    changes: [{ from: "return (await ends) ? first : 'unavailable';", to: 'return first;' }],
    scenario: 'reviews',
    foundAs: ['notKept'],
  },
  believes_any_map: {
    breaks: 'The map of finished offsets beside a commit is believed, whichever cluster it speaks of.',
    file: 'src/engine/offset-map.ts',
    changes: [{ from: 'if (cluster !== expected.clusterHash || ', to: 'if (' }],
    scenario: 'mirrored',
    foundAs: ['notScored'],
  },
} as const satisfies Record<string, Bug>;

export type BugName = keyof typeof BUGS;

export const BUG_NAMES = Object.keys(BUGS) as readonly BugName[];

export function isBugName(text: string): text is BugName {
  return BUG_NAMES.some((name) => name === text);
}

/** The file with the bug in it. @throws RangeError where a text does not stand in it exactly once */
export function withBug({ file, changes }: Bug, source: string): string {
  let changed = source;
  for (const { from, to } of changes) {
    const parts = changed.split(from);
    if (parts.length !== 2) throw new RangeError(`${file}: not there exactly once: ${from}`);
    changed = parts.join(to);
  }
  return changed;
}
