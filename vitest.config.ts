import { defineConfig } from 'vitest/config';

const node = { environment: 'node', pool: 'forks' } as const;
const folders = (...names: string[]): string[] => names.map((name) => `test/${name}/**/*.test.ts`);

/** `vitest run` alone runs `unit` and `real`: what takes many minutes runs only under its name. */
const isLongAskedFor = process.argv.some(
  (argument, at, all) => argument === '--project=long' || (argument === 'long' && all[at - 1] === '--project'),
);

/**
 * `unit` needs nothing but Node; `real` runs against a real Kafka and a real registry, started once for all of its files;
 * `long` needs nothing but Node and minutes: `vitest run --project long`.
 */
export default defineConfig({
  test: {
    reporters: [process.env['CI'] === 'true' ? 'dot' : 'default', './test/support/summary-reporter.ts'],
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary', 'json-summary'] },
    projects: [
      {
        extends: true,
        test: {
          ...node,
          name: 'unit',
          include: folders('unit', 'property', 'architecture', 'docs'),
          testTimeout: 30_000,
          // Else one core of two is left idle.
          maxWorkers: '100%',
        },
      },
      {
        extends: true,
        test: {
          ...node,
          name: 'real',
          include: folders('contract', 'integration', 'process'),
          globalSetup: ['test/support/global-setup.ts'],
          // Only for what hangs: several processes and a broker share the cores of a small machine.
          testTimeout: 180_000,
          hookTimeout: 180_000,
          // Each file has topics, groups and ports of its own. They mostly wait, for sessions and for processes.
          maxWorkers: 2,
          // Not beside those of `unit`, which use all there is of the machine.
          sequence: { groupOrder: 1 },
        },
      },
      ...(isLongAskedFor
        ? [
            {
              extends: true as const,
              test: { ...node, name: 'long', include: folders('long'), testTimeout: 900_000 },
            },
          ]
        : []),
    ],
  },
});
