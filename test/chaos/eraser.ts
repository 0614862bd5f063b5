import { setTimeout as sleep } from 'node:timers/promises';
import { type Config } from '../../src/config/config.ts';
import { type ClusterView } from './cluster-view.ts';
import { readTopic } from './reader.ts';
import { type Logged } from './sightings.ts';
import { type Witness } from './witness.ts';

/** So long is written what nobody will read. */
const UNREAD_MS = 3000;

/** Deletes payments before they are read, as a retention does that is too short, and keeps account of them. */
export class Eraser {
  readonly erased: Logged[] = [];
  readonly #parts: { readonly config: Config; readonly view: ClusterView; readonly witness: Witness };

  constructor(parts: { readonly config: Config; readonly view: ClusterView; readonly witness: Witness }) {
    this.#parts = parts;
  }

  /** Of one partition, while no connector runs; answers how many had never been asked about. */
  async erase(partition: number): Promise<number> {
    const { config, view, witness } = this.#parts;
    const topic = config.topics.created;
    await sleep(UNREAD_MS);
    const there = (await readTopic(config, topic)).filter((record) => record.partition === partition);
    const last = there.at(-1);
    if (last === undefined) return 0;
    await view.erase(topic, partition, last.offset + 1);
    this.erased.push(...there);
    const asked = new Set(witness.sightings.flatMap(({ kind, transId }) => (kind === 'score' ? [transId] : [])));
    return there.filter(({ transId }) => !asked.has(transId)).length;
  }
}
