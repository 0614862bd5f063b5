import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ARROWS, violationsOf } from './arrows.ts';
import { codeOf, importsOf } from './source-text.ts';

const root = new URL('../../src/', import.meta.url);
const files = globSync('**/*.ts', { cwd: root }).sort();

describe('the checker sees', () => {
  test.each([
    ['kernel/a.ts', "import { type B } from '../engine/ports.ts';", 'imports engine/ports'],
    ['kernel/a.ts', "import { createHash } from 'node:crypto';", 'imports node:crypto'],
    ['engine/a.ts', "import { B } from '../flows/sync/flow.ts';", 'imports flows/sync/flow'],
    ['resilience/a.ts', "import { B } from '../screening/score.ts';", 'imports screening/score'],
    ['flows/scoring/a.ts', "import { B } from '../sync/flow.ts';", 'imports flows/sync/flow'],
    ['flows/sync/a.ts', "import { Kafka } from 'kafkajs';", 'imports kafkajs'],
    ['flows/sync/a.ts', "import {\n  type B,\n  C,\n} from '../../engine/engine.ts';", 'imports engine/engine'],
    ['reviews/a.ts', "import { B } from '../dead-letters/letter.ts';", 'imports dead-letters/letter'],
    ['telemetry/a.ts', "import { B } from '../engine/ports.ts';", 'not as types only'],
    ['edges/kafka/a.ts', "import { B } from '../screening-api/client.ts';", 'imports edges/screening-api/client'],
    ['edges/kafka/a.ts', "import { type B } from '../screening-api/client.ts';", 'imports edges/screening-api/client'],
    ['edges/kafka/a.ts', "import { loadConfig } from '../../config/load.ts';", 'imports config/load'],
    ['edges/kafka/a.ts', "import { PerformanceObserver } from 'node:perf_hooks';", 'imports node:perf_hooks'],
    ['sandbox/a.ts', "import { B } from '../app/demo.ts';", 'imports app/demo'],
    ['app/a.ts', "import { Kafka } from 'kafkajs';", 'imports kafkajs'],
    ['app/a.ts', "const b = await import('undici');", 'imports undici'],
    ['engine/a.ts', "import { B } from '../../test/support/b.ts';", 'outside of src'],
    ['newcomer/a.ts', '', 'no row'],
    ['engine/a.ts', 'const a = Date.now();', 'uses Date'],
    ['engine/a.ts', 'const a = new Date();', 'uses Date'],
    ['engine/a.ts', 'const a = () => Math.random();', 'uses Math.random'],
    ['engine/a.ts', 'setTimeout(a, 5);', 'uses setTimeout'],
    ['engine/a.ts', 'const a = globalThis;', 'uses globalThis'],
    ['engine/a.ts', 'const a = `${process.pid}`;', 'uses process'],
    ['engine/a.ts', "const a = /'/; const b = performance.now(); const c = '';", 'uses performance'],
    ['engine/a.ts', 'export default 5;', 'default export'],
    ['engine/a.ts', "export * from './b.ts';", 're-exports'],
    ['engine/a.ts', "export { B } from './b.ts';", 're-exports'],
    ['engine/a.ts', 'a();\n'.repeat(401), '401 lines'],
  ])('case %#, in %s', (path, text, expected) => {
    const found = violationsOf(path, text);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  test.each([
    ['engine/a.ts', "import { type B } from './ports.ts';\nimport { Fault } from '../kernel/fault.ts';"],
    ['edges/kafka/a.ts', "import { type B, type C } from '../../engine/ports.ts';\nimport { Kafka } from 'kafkajs';"],
    ['edges/kafka/a.ts', "import type { Config } from '../../config/config.ts';"],
    ['edges/system/a.ts', 'const a = Date.now();'],
    ['engine/a.ts', "// Date.now()\n/* setTimeout */ const a = 'new Date()';"],
    ['engine/a.ts', 'this.#process(a.process, b.Date, { process: 1 });'],
    ['flows/sync/a.ts', "import { decodeRecord } from '../decode.ts';\nimport { createHash } from 'node:crypto';"],
    ['engine/a.ts', 'a();\n// why\n\n'.repeat(400)],
  ])('nothing wrong in case %#, in %s', (path, text) => {
    expect(violationsOf(path, text)).toEqual([]);
  });

  test('imports over several lines, re-exports and dynamic ones', () => {
    const text =
      "import {\n  type A,\n  type B,\n} from './a.ts';\nexport { C } from './c.ts';\nimport './d.ts';\nvoid import('./e.ts');";
    expect(importsOf(text)).toEqual([
      { of: './a.ts', typesOnly: true },
      { of: './c.ts', typesOnly: false },
      { of: './d.ts', typesOnly: false },
      { of: './e.ts', typesOnly: false },
    ]);
  });

  test('code, without what only looks like it', () => {
    expect(codeOf("a(/x'y/, 'b // c', `d ${e} f`); // g\nh / i / j;")).toBe("a(, '', (e)); \nh / i / j;");
  });
});

describe('src', () => {
  test('has files to look at, and every folder of the table but those still to come', () => {
    expect(files.length).toBeGreaterThan(40);
    const missing = Object.keys(ARROWS).filter(
      (key) => !files.some((file) => file.replace(/\.ts$/, '').startsWith(key)),
    );
    expect(missing.filter((key) => !['mapping', 'replay'].includes(key))).toEqual([]);
  });

  test('keeps to the arrows', () => {
    expect(files.flatMap((file) => violationsOf(file, readFileSync(new URL(file, root), 'utf8')))).toEqual([]);
  });
});
