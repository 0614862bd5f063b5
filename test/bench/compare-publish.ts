import { readFile, writeFile } from 'node:fs/promises';
import { besideHotKey, comparisonTable, missedBars, type Comparison } from './compare-figures.ts';
import { comparisonPicture } from './compare-picture.ts';
import { type PathSlices, resultOf as metricsResult } from './metrics.ts';
import { type OddFigures, resultOf as oddResult } from './odd-figures.ts';
import { type BenchResult } from './result.ts';

const PAGE = new URL('../../docs/performance.md', import.meta.url);
const PICTURE = new URL('../../docs/pictures/compare.svg', import.meta.url);
const END = '<!-- Up to here. -->';

/** What is printed into docs/performance.md, each in a place of its own. */
export type Printed = 'comparison' | 'metrics' | 'odd';

/** What `--json` has written, as far as it is printed. */
type Figures = Comparison | { readonly paths: readonly PathSlices[] } | { readonly runs: readonly OddFigures[] };

/** Puts a comparison into the page and its picture. */
export async function publish(comparison: Comparison): Promise<void> {
  await writeFile(PAGE, withBlock(await readFile(PAGE, 'utf8'), 'comparison', blockOf(comparison)));
  await writeFile(PICTURE, comparisonPicture(comparison));
}

/** Puts what `--json` has kept of a comparison, of `metrics` or of `odd` into the page. Answers it as if it had just been measured. */
export async function publishFile(file: string): Promise<BenchResult> {
  const { figures } = JSON.parse(await readFile(file, 'utf8')) as { readonly figures: Figures };
  if ('rows' in figures) {
    await publish(figures);
    return { ...comparisonTable(figures), figures, missed: missedBars(figures) };
  }
  const [name, result] =
    'runs' in figures
      ? (['odd', oddResult(figures.runs)] as const)
      : (['metrics', metricsResult(figures.paths)] as const);
  await writeFile(PAGE, withBlock(await readFile(PAGE, 'utf8'), name, tableOf(result)));
  return result;
}

/** The page with what was printed before at this place replaced. Throws where it has no such place. */
export function withBlock(page: string, name: Printed, block: string): string {
  const begin = `<!-- Printed by npm run bench -- publish FILE.json, ${name}: -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(END, from);
  if (from === -1 || to === -1) throw new Error(`docs/performance.md has no place for: ${name}`);
  return `${page.slice(0, from)}${begin}\n\n${block}\n\n${page.slice(to)}`;
}

/** A table in Markdown, what was missed below it, and the picture. */
export function blockOf(comparison: Comparison): string {
  const missed = missedBars(comparison).map((each) => `- ${each}`);
  return [
    tableOf(comparisonTable(comparison)),
    '',
    ...besideLines(comparison),
    missed.length === 0 ? 'Every aim is met.' : 'Missed:',
    ...(missed.length === 0 ? [] : ['', ...missed]),
    '',
    '![Payments a second and CPU, the connector and others](pictures/compare.svg)',
  ].join('\n');
}

function besideLines(comparison: Comparison): readonly string[] {
  const found = besideHotKey(comparison);
  if (found === null) return [];
  const [zipf, even] = [found.zipfMs, found.evenMs].map((ms) => ms.toFixed(1));
  return [`Latency added to the keys beside a hot one (Zipf(1.1)), p99: ${zipf} ms; with even keys ${even} ms.`, ''];
}

function tableOf({ columns, rows }: Pick<BenchResult, 'columns' | 'rows'>): string {
  return [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
