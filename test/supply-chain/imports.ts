import { importsOf } from '../architecture/source-text.ts';
import { type Manifest } from './manifest.ts';

/** The text of a source file. */
export interface SourceFile {
  /** Below the root of the checkout. */
  readonly path: string;
  readonly text: string;
}

/** What is used without an import, or not by everybody. */
export interface Uses {
  /** Development dependencies that are run, or read by those that are run. */
  readonly tools: readonly string[];
  /** Development dependencies that `src` may import where it says what to do without them. */
  readonly optional: readonly string[];
}

function packageOf(specifier: string): string | null {
  if (/^[./]|^node:/.test(specifier)) return null;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

interface PackageImport {
  readonly path: string;
  readonly name: string;
}

function packageImports(files: readonly SourceFile[]): readonly PackageImport[] {
  return files.flatMap(({ path, text }) =>
    importsOf(text).flatMap(({ of }) => {
      const name = packageOf(of);
      return name === null ? [] : [{ path, name }];
    }),
  );
}

/** Imports of what is not declared (in `src`: for running), and what is declared and neither imported nor a tool. */
export function importProblems(files: readonly SourceFile[], manifest: Manifest, uses: Uses): readonly string[] {
  const imports = packageImports(files);
  return [...undeclared(imports, manifest, uses), ...unused(imports, manifest, uses)];
}

function undeclared(
  imports: readonly PackageImport[],
  { dependencies, devDependencies }: Manifest,
  { optional }: Uses,
): ReadonlySet<string> {
  const wrong = imports.filter(({ path, name }) => {
    const toRun = Object.hasOwn(dependencies, name) || optional.includes(name);
    return !toRun && (path.startsWith('src/') || !Object.hasOwn(devDependencies, name));
  });
  return new Set(wrong.map(({ path, name }) => `${path}: imports ${name}, which is not declared for that.`));
}

function unused(
  imports: readonly PackageImport[],
  { dependencies, devDependencies }: Manifest,
  { tools, optional }: Uses,
): readonly string[] {
  const imported = new Set(imports.map(({ name }) => name));
  const shipped = new Set(imports.flatMap(({ path, name }) => (path.startsWith('src/') ? [name] : [])));
  return [
    ...Object.keys(dependencies)
      .filter((name) => !shipped.has(name))
      .map((name) => `${name}: is a dependency, and nothing in src imports it.`),
    ...Object.keys(devDependencies)
      .filter((name) => !imported.has(name) && !tools.includes(name))
      .map((name) => `${name}: is a development dependency that nothing uses.`),
    ...[...tools, ...optional]
      .filter((name) => !Object.hasOwn(devDependencies, name))
      .map((name) => `${name}: is listed as used, and is no dependency.`),
  ];
}
