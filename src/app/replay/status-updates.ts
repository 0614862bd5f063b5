import { type Config } from '../../config/config.ts';
import { guarded } from '../../dead-letters/guarded.ts';
import { type Update } from '../../flows/sync/read.ts';
import { Fault } from '../../kernel/fault.ts';
import { completeUpdate } from '../../screening/status-update.ts';
import { wireFlows } from '../flows.ts';
import { type ReplayParts } from './replay.ts';
import { type Rig } from './rig.ts';

/**
 * A configuration whose sync flow reads this topic, and waits for no scores: they are made elsewhere, and long ago.
 */
export function configOfSync(config: Config, topic: string): Config {
  return {
    ...config,
    flows: new Set(['sync']),
    topics: { ...config.topics, authorized: topic },
    sync: { ...config.sync, scoreWaitMs: 0 },
  };
}

/** The sync flow as a replay uses it. The configuration of the rig is one of `configOfSync`. */
export function syncParts({ wire, api, letters }: Rig): Pick<ReplayParts, 'newSync' | 'describe'> {
  const { topics, sync } = wire.config;
  return {
    newSync: () => {
      const { byTopic, gates } = wireFlows(wire, api);
      const flow = byTopic.get(topics.authorized);
      if (flow === undefined) throw new Fault('INTERNAL', 'There is no sync flow.');
      return { flow, deadLetters: guarded(letters, gates) };
    },
    describe: (item) => {
      const update = completeUpdate((item as Update).draft, sync, null);
      if (update.do === 'refuse') return update.letter;
      const fields = new Map(update.fields);
      return { day: String(fields.get('ts')).slice(0, 'yyyy-mm-dd'.length), status: String(fields.get('status')) };
    },
  };
}
