import { directOf, type Manifest } from './manifest.ts';

/** A package that the page of decisions names in the first column of a table. */
export interface PageRow {
  readonly name: string;
  /** As much of the version as it tells. */
  readonly version: string;
}

const NAMED = /^(@?[\w./-]+) (\d+(?:\.\d+)*)$/;

/** The packages of the tables of a page; several stand in one row with commas between. */
export function pageRows(markdown: string): readonly PageRow[] {
  return markdown.split('\n').flatMap((line) => {
    const first = /^\| ([^|]+) \|/.exec(line)?.[1] ?? '';
    return first.split(', ').flatMap((part) => {
      const [, name, version] = NAMED.exec(part.trim()) ?? [];
      return name === undefined || version === undefined ? [] : [{ name, version }];
    });
  });
}

/** Direct dependencies that the page does not name, rows of none, rows of another version, and rows given twice. */
export function pageProblems(markdown: string, manifest: Manifest): readonly string[] {
  const rows = pageRows(markdown);
  const direct = directOf(manifest);
  const problems: string[] = [];
  for (const name of direct.keys())
    if (!rows.some((row) => row.name === name)) problems.push(`${name}: has no row in docs/decisions/dependencies.md.`);
  for (const [index, { name, version }] of rows.entries()) {
    const used = direct.get(name);
    if (used === undefined)
      problems.push(`${name}: has a row in docs/decisions/dependencies.md, and is no dependency.`);
    else if (used !== version && !used.startsWith(`${version}.`))
      problems.push(`${name}: docs/decisions/dependencies.md says ${version}, package.json ${used}.`);
    if (rows.findIndex((row) => row.name === name) !== index)
      problems.push(`${name}: has two rows in docs/decisions/dependencies.md.`);
  }
  return problems;
}
