import { type Cluster } from 'kafkajs';

type FindGroupCoordinator = Cluster['findGroupCoordinator'];

/**
 * The barrier in front of every join. kafkajs awaits `findGroupCoordinator` before each JoinGroup, and only there: so what
 * has to end before a join is awaited in front of it.
 *
 * A barrier belongs to one join: `joined` ends its use, and who has passed it and has not sent its JoinGroup by then
 * passes another one. Those who come while no join has succeeded share it: nothing has been started since.
 */
export class JoinGuard {
  readonly #pass: () => Promise<void>;
  #barrier: Promise<void> | null = null;

  /** `pass` resolves when nothing of the old generation runs any more; it never rejects. */
  constructor(pass: () => Promise<void>) {
    this.#pass = pass;
  }

  /** A join is under way: its barrier has begun and it has not succeeded. */
  get isUp(): boolean {
    return this.#barrier !== null;
  }

  /** Puts the barrier in front of every join over this connection. */
  guard(cluster: { findGroupCoordinator: FindGroupCoordinator }): void {
    const find = cluster.findGroupCoordinator.bind(cluster);
    cluster.findGroupCoordinator = async (group) => {
      for (;;) {
        const barrier = (this.#barrier ??= this.#pass());
        await barrier;
        const coordinator = await find(group);
        // A join has succeeded meanwhile, and what it brought may run already.
        if (barrier === this.#barrier) return coordinator;
      }
    };
  }

  /** A join has succeeded: the next one has a barrier of its own. */
  joined(): void {
    this.#barrier = null;
  }
}
