/** Loads a connector with a bug in it: `--import …/bug.ts?name=NAME`. Nothing on the disk is changed. */
import { registerHooks } from 'node:module';
import { type Bug, BUGS, isBugName, withBug } from '../bugs/bugs.ts';

const name = new URL(import.meta.url).searchParams.get('name') ?? '';
if (!isBugName(name)) throw new RangeError(`no bug of this name: ${name}`);
const bug: Bug = BUGS[name];
const broken = new URL(`../../../${bug.file}`, import.meta.url).href;

registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    if (url !== broken) return loaded;
    const { source = '' } = loaded;
    const text = typeof source === 'string' ? source : new TextDecoder().decode(source ?? undefined);
    return { ...loaded, source: withBug(bug, text) };
  },
});
