import { type Commit, type TopicPartition } from '../../engine/ports.ts';
import { Fault } from '../../kernel/fault.ts';
import { type Membership } from './coordinator-repair.ts';
import { causeCode, kafkaErrorName } from './errors.ts';
import { toKafkaOffsets } from './owned.ts';

export interface CommitLineOptions {
  readonly mayCommit: () => boolean;
  readonly owns: (at: TopicPartition) => boolean;
  /** Null: it has not begun. */
  readonly membership: () => Pick<Membership, 'commit'> | null;
}

/** The commits of one membership, one at a time. */
export class CommitLine {
  readonly #options: CommitLineOptions;
  #last: Promise<void> = Promise.resolve();

  constructor(options: CommitLineOptions) {
    this.#options = options;
  }

  /**
   * One attempt, for partitions owned at the moment it is made. Throws Fault `KAFKA_FAILED` when it failed or its outcome
   * is unknown, `METADATA_TOO_LARGE` when the brokers take less of it.
   */
  async commit(commits: readonly Commit[]): Promise<void> {
    const done = this.#last.then(async () => {
      await this.#commitNow(commits);
    });
    this.#last = done.catch(() => undefined);
    await done;
  }

  async #commitNow(commits: readonly Commit[]): Promise<void> {
    const { mayCommit, owns } = this.#options;
    // The broker checks the member, not who owns the partition: a late commit would move another member's offset.
    if (!mayCommit()) throw new Fault('KAFKA_FAILED', 'Nothing may be committed now: the group is rebalancing.');
    if (commits.some((commit) => !owns(commit)))
      throw new Fault('KAFKA_FAILED', 'A partition is no longer owned: its offset was not committed.');
    const membership = this.#options.membership();
    if (membership === null) throw new Fault('KAFKA_FAILED', 'Nothing may be committed: not a member of the group.');
    try {
      await membership.commit(toKafkaOffsets(commits));
    } catch (error) {
      // The brokers store the other partitions of the request all the same.
      if (causeCode(error) === 'OFFSET_METADATA_TOO_LARGE')
        throw new Fault('METADATA_TOO_LARGE', 'The brokers take less metadata with a commit.', { cause: error });
      throw new Fault('KAFKA_FAILED', `The commit failed or its outcome is unknown: ${kafkaErrorName(error)}.`, {
        cause: error,
      });
    }
  }
}
