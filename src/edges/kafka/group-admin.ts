import { type Admin } from 'kafkajs';
import { type KafkaClient } from './client.ts';
import { type Rights } from './errors.ts';
import { commitWithoutMember } from './memberless-commit.ts';

/** Kafka's codes of errors. */
const NON_EMPTY_GROUP = 68;
const GROUP_ID_NOT_FOUND = 69;

export interface GroupCommit {
  readonly offset: bigint;
  readonly metadata: string;
}

/** What commands ask of consumer groups. Every failure is a Fault `KAFKA_FAILED`. */
export interface GroupAdmin {
  /** Whether the group has committed anything of the topic. */
  hasCommitted(groupId: string, topic: string): Promise<boolean>;
  /** What the group has committed of the topic, with the metadata of each commit. */
  committed(groupId: string, topic: string): Promise<ReadonlyMap<number, GroupCommit>>;
  /** How many members the group has now; one that died counts until its session is over. */
  memberCount(groupId: string): Promise<number>;
  /** Deletes a group and what it has committed. */
  deleteGroup(groupId: string): Promise<'deleted' | 'unknown' | 'has_members'>;
  /** Commits for a group that has no members; without metadata, so what was there is forgotten. */
  commitFor(groupId: string, topic: string, offsets: ReadonlyMap<number, bigint>): Promise<void>;
}

/** Asks a connected admin client; `what` names the question in the message of its failure, `rights` what it needs. */
export type Asked = <T>(what: string, work: (admin: Admin) => Promise<T>, rights?: Rights) => Promise<T>;

export function createGroupAdmin(asked: Asked, client: KafkaClient): GroupAdmin {
  return {
    hasCommitted: async (groupId, topic) =>
      await asked(
        `reading what ${groupId} has committed`,
        async (admin) => (await commitsOf(admin, groupId, topic)).size > 0,
        { topic: ['Describe', topic], group: ['Describe', groupId] },
      ),
    committed: async (groupId, topic) =>
      await asked(`reading what ${groupId} has committed`, async (admin) => await commitsOf(admin, groupId, topic), {
        topic: ['Describe', topic],
        group: ['Describe', groupId],
      }),
    memberCount: async (groupId) =>
      await asked(
        `looking at ${groupId}`,
        async (admin) => {
          const { groups } = await admin.describeGroups([groupId]);
          return groups.find((group) => group.groupId === groupId)?.members.length ?? 0;
        },
        { group: ['Describe', groupId] },
      ),
    deleteGroup: async (groupId) =>
      await asked(
        `deleting ${groupId}`,
        async (admin) => {
          try {
            await admin.deleteGroups([groupId]);
            return 'deleted';
          } catch (error) {
            const outcome = outcomeOfDeletion(error);
            if (outcome === null) throw error;
            return outcome;
          }
        },
        { group: ['Delete', groupId] },
      ),
    commitFor: async (groupId, topic, offsets) => {
      await asked(
        `committing for ${groupId}`,
        async () => {
          await commitWithoutMember(client, groupId, topic, offsets);
        },
        { topic: ['Read', topic], group: ['Read', groupId] },
      );
    },
  };
}

async function commitsOf(admin: Admin, groupId: string, topic: string): Promise<ReadonlyMap<number, GroupCommit>> {
  const found = await admin.fetchOffsets({ groupId, topics: [topic] });
  const commits = found
    .flatMap(({ partitions }) => partitions)
    .map(({ partition, offset, metadata }): [number, GroupCommit] => [
      partition,
      { offset: BigInt(offset), metadata: metadata ?? '' },
    ]);
  // Negative: none, and what kafkajs itself writes when an offset is out of range.
  return new Map(commits.filter(([, { offset }]) => offset >= 0n));
}

/** Why a group could not be deleted, where that says something of the group; null: it says nothing. */
function outcomeOfDeletion(error: unknown): 'unknown' | 'has_members' | null {
  for (let at: unknown = error; at instanceof Error; at = Reflect.get(at, 'cause')) {
    const groups: unknown = Reflect.get(at, 'groups');
    if (!Array.isArray(groups)) continue;
    const codes = new Set(groups.map((group: { readonly errorCode?: unknown }) => group.errorCode));
    if (codes.has(NON_EMPTY_GROUP)) return 'has_members';
    if (codes.has(GROUP_ID_NOT_FOUND)) return 'unknown';
  }
  return null;
}
