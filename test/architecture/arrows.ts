import { posix } from 'node:path';
import { codeOf, importsOf } from './source-text.ts';

/** What the files of one folder may import beside each other. Paths are below `src`, without the ending. */
export interface Arrows {
  /** Folders or files. */
  readonly to: readonly string[];
  /** Folders, files or (as a pattern) any path that may be imported as types only. */
  readonly types?: readonly (string | RegExp)[];
  /** Packages and modules of Node, or all of them. */
  readonly libraries: readonly string[] | 'any';
  /** Time, chance, timers and the process may be used directly. */
  readonly world?: true;
}

const CPU_ONLY = ['node:buffer', 'node:crypto', 'avsc', 'lru-cache', 'p-limit'];
const PROCESSING: Arrows = {
  to: ['engine/ports', 'screening', 'resilience', 'mapping', 'kernel'],
  libraries: CPU_ONLY,
};
const EDGE: Arrows = {
  // Backoff is arithmetic without state: every edge that repeats something spaces it out alike.
  to: ['screening', 'kernel', 'resilience/backoff'],
  types: [/(^|\/)ports$/, 'config'],
  libraries: 'any',
};

/** Every folder of `src` (and files beside them) has a row; the longest that fits a path is its row. */
export const ARROWS: Readonly<Record<string, Arrows>> = {
  kernel: { to: [], libraries: [] },
  screening: { to: ['kernel'], libraries: ['node:buffer'] },
  engine: { to: ['kernel'], libraries: ['node:buffer'] },
  resilience: { to: ['kernel', 'screening/verdict'], libraries: ['node:buffer', 'p-limit'] },
  mapping: { to: ['kernel'], libraries: ['yaml'] },
  lifecycle: { to: ['kernel'], libraries: [] },
  // Certificates and keys are judged with all else that is configured: arithmetic, no connection.
  config: { to: ['kernel'], libraries: ['node:buffer', 'node:crypto', 'node:tls'] },
  flows: PROCESSING,
  'flows/scoring': { ...PROCESSING, to: [...PROCESSING.to, 'flows/decode', 'flows/scored'] },
  'flows/sync': { ...PROCESSING, to: [...PROCESSING.to, 'flows/decode', 'flows/scored'] },
  reviews: PROCESSING,
  replay: PROCESSING,
  'dead-letters': PROCESSING,
  telemetry: { to: ['kernel'], types: ['engine/ports', 'resilience/ports'], libraries: ['pino', 'prom-client'] },
  'edges/kafka': EDGE,
  'edges/schema-registry': EDGE,
  'edges/screening-api': EDGE,
  'edges/http-server': EDGE,
  'edges/otel': EDGE,
  'edges/system': { ...EDGE, world: true },
  sandbox: { to: ['screening', 'kernel'], libraries: 'any', world: true },
  app: {
    to: [
      'kernel',
      'screening',
      'engine',
      'resilience',
      'mapping',
      'lifecycle',
      'config',
      'flows',
      'reviews',
      'replay',
      'dead-letters',
      'telemetry',
      'edges',
      'sandbox',
    ],
    libraries: ['node:buffer', 'node:crypto', 'node:url'],
  },
  cli: { to: ['app', 'config', 'edges/system', 'kernel'], libraries: 'any', world: true },
  main: { to: ['cli', 'app', 'config', 'edges/system', 'kernel'], libraries: 'any', world: true },
};

const WORLD_MODULES = new Set(['node:process', 'node:timers', 'node:timers/promises', 'node:perf_hooks']);
const WORLD =
  /(?<![.\w$#])(?:(?:Date|performance|process|setTimeout|setInterval|setImmediate|clearTimeout|clearInterval|clearImmediate)\b(?!\??:)|Math\.random\b|globalThis\b)/;
const MOST_LINES = 400;

function isIn(path: string, folderOrFile: string): boolean {
  return path === folderOrFile || path.startsWith(`${folderOrFile}/`);
}

/** The row of a path: the longest key that holds it. */
export function rowOf(path: string): string | undefined {
  const keys = Object.keys(ARROWS).filter((key) => isIn(path, key));
  return keys.sort((one, other) => other.length - one.length)[0];
}

function packageOf(name: string): string {
  return name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : (name.split('/')[0] ?? name);
}

function allows(key: string, arrows: Arrows, path: string, typesOnly: boolean): boolean {
  if (rowOf(path) === key || arrows.to.some((target) => isIn(path, target))) return true;
  const types = arrows.types ?? [];
  return typesOnly && types.some((each) => (typeof each === 'string' ? isIn(path, each) : each.test(path)));
}

function brokenArrows(key: string, arrows: Arrows, path: string, text: string): readonly string[] {
  const broken: string[] = [];
  for (const { of, typesOnly } of importsOf(text)) {
    if (of.startsWith('.')) {
      const target = posix.join(posix.dirname(path), of).replace(/\.(ts|mjs|js|json)$/, '');
      if (!target.startsWith('..') && !allows(key, arrows, target, typesOnly))
        broken.push(`imports ${target}, ${typesOnly ? 'as types' : 'not as types only'}`);
      if (target.startsWith('..') && of.endsWith('.ts')) broken.push(`imports ${of}, which is outside of src`);
      continue;
    }
    const library = of.startsWith('node:') ? of : packageOf(of);
    if (WORLD_MODULES.has(library) && arrows.world !== true) broken.push(`imports ${library}`);
    else if (arrows.libraries !== 'any' && !arrows.libraries.includes(library)) broken.push(`imports ${library}`);
  }
  return broken;
}

/** Everything about one source file that the architecture forbids, as sentences that begin with its path; `path` is below `src`. */
export function violationsOf(path: string, text: string): readonly string[] {
  const bare = path.replace(/\.ts$/, '');
  const key = rowOf(bare);
  if (key === undefined) return [`${path}: has no row in the table of arrows`];
  const arrows = ARROWS[key] as Arrows;
  const code = codeOf(text);
  const broken = [...brokenArrows(key, arrows, bare, text)];
  const used = arrows.world === true ? null : WORLD.exec(code);
  if (used !== null) broken.push(`uses ${used[0]}, which has to be an argument here`);
  if (/^export default\b/m.test(code)) broken.push('has a default export');
  if (/^export\s+(type\s+)?(\*|\{[^}]*\}\s+from\b)/m.test(code)) broken.push('re-exports what another file has');
  const lines = code.split('\n').filter((line) => line.trim() !== '').length;
  if (lines > MOST_LINES && !path.endsWith('.generated.ts')) broken.push(`has ${String(lines)} lines of code`);
  return broken.map((what) => `${path}: ${what}`);
}
