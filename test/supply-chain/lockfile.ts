import { directOf, type Lock, type Manifest, packageIn } from './manifest.ts';

const EXACT = /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/;

/** Direct dependencies that are no exact version: ranges, tags, addresses, files, other names. */
export function versionProblems(manifest: Manifest): readonly string[] {
  return [...directOf(manifest)]
    .filter(([, version]) => !EXACT.test(version))
    .map(([name, version]) => `package.json: ${name} is ${JSON.stringify(version)}, which is no exact version.`);
}

/**
 * What of the lockfile would let another content in: an entry without a strong hash, one that is no package of a registry,
 * one that names a host, and a lockfile that is not that of package.json.
 */
export function lockProblems(lock: Lock, manifest: Manifest): readonly string[] {
  const { '': root, ...packages } = lock.packages;
  const problems = lock.lockfileVersion === 3 ? [] : ['package-lock.json: its version is not 3.'];
  for (const part of ['dependencies', 'devDependencies'] as const)
    if (sorted(root?.[part] ?? {}) !== sorted(manifest[part]))
      problems.push(`package-lock.json: its ${part} are not those of package.json; run npm install.`);
  for (const [folder, { version = '', resolved, integrity = '', link }] of Object.entries(packages)) {
    if (!folder.startsWith('node_modules/')) problems.push(`${folder}: is no package of a registry.`);
    if (link === true) problems.push(`${folder}: is a link.`);
    if (resolved !== undefined) problems.push(`${folder}: names where it was got (resolved).`);
    if (!EXACT.test(version)) problems.push(`${folder}: ${JSON.stringify(version)} is no exact version.`);
    if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)) problems.push(`${folder}: has no SHA-512.`);
  }
  return problems;
}

function sorted(versions: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(versions).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Packages with install scripts that nobody has decided about, and decisions about packages that have none. `mayRun`: those that may. */
export function scriptProblems(lock: Lock, manifest: Manifest, mayRun: readonly string[]): readonly string[] {
  const withScripts = new Set(
    Object.entries(lock.packages).flatMap(([folder, locked]) =>
      locked.hasInstallScript === true ? [packageIn(folder)] : [],
    ),
  );
  const decided = Object.entries(manifest.allowScripts);
  return [
    ...[...withScripts]
      .filter((name) => !Object.hasOwn(manifest.allowScripts, name))
      .map((name) => `${name}: has an install script that allowScripts says nothing of.`),
    ...decided
      .filter(([name]) => !withScripts.has(name))
      .map(([name]) => `${name}: allowScripts names it, and it has no install script.`),
    ...decided
      .filter(([name, allowed]) => allowed !== mayRun.includes(name))
      .map(([name, allowed]) => `${name}: allowScripts says ${String(allowed)}, the check says otherwise.`),
  ];
}
