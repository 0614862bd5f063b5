import { type Comparison, middleOf } from './compare-figures.ts';
import { NOTES } from './rivals/roster.ts';

const WIDTH = 860;
const NAME_WIDTH = 250;
const BAR_WIDTH = 330;
const BAR_HEIGHT = 16;
const ROW_HEIGHT = 24;
const GROUP_GAP = 46;
const TOP = 64;

/** Rates as bars, a group for each kind of work; beside each its CPU, and whether it keeps order. */
export function comparisonPicture({ rows }: Comparison): string {
  const groups = [...Map.groupBy(rows, ({ job }) => job)];
  const parts: string[] = [];
  let y = TOP;
  for (const [job, group] of groups) {
    parts.push(
      words(16, y, `Service: ${job}`, 'head'),
      words(NAME_WIDTH, y, 'records a second', 'note'),
      words(NAME_WIDTH + BAR_WIDTH + 90, y, 'CPU s per 1,000', 'note'),
    );
    const most = Math.max(...group.map(({ rounds }) => middleOf(rounds).rate));
    for (const { rival, rounds } of group) {
      const { title, ours } = NOTES[rival];
      const { rate, cpu, disorders, overlaps } = middleOf(rounds);
      y += ROW_HEIGHT;
      const keepsOrder = disorders + overlaps === 0;
      const width = Math.max(1, (BAR_WIDTH * rate) / most);
      const kind = ours ? 'ours' : keepsOrder ? 'theirs' : 'loose';
      parts.push(
        words(16, y, title, ours ? 'own' : 'name'),
        `<rect class="${kind}" x="${String(NAME_WIDTH)}" y="${String(y - BAR_HEIGHT + 4)}" width="${width.toFixed(1)}" height="${String(BAR_HEIGHT)}" rx="2"/>`,
        words(NAME_WIDTH + width + 6, y, grouped(rate), 'name'),
        words(NAME_WIDTH + BAR_WIDTH + 90, y, cpu.toFixed(3), 'name'),
        words(NAME_WIDTH + BAR_WIDTH + 170, y, keepsOrder ? 'in order' : 'order broken', keepsOrder ? 'note' : 'bad'),
      );
    }
    y += GROUP_GAP;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(WIDTH)} ${String(y)}" width="${String(WIDTH)}" height="${String(y)}" role="img" aria-label="Records a second and CPU, connector and rivals">`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="100%" height="100%"/>`,
    words(16, 28, ABOUT, 'note'),
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

const ABOUT =
  '64 requests at once, 12 partitions, values of 704 bytes, even keys, one core for each contestant, unless it says otherwise';
const STYLE = [
  'text{font:13px system-ui,sans-serif;fill:#1c2430}',
  '.paper{fill:#fff}',
  '.head{font-weight:600}',
  '.own{font-weight:600}',
  '.note{fill:#5b6573}',
  '.bad{fill:#b3261e}',
  '.ours{fill:#1b7f4b}',
  '.theirs{fill:#8fa3bf}',
  '.loose{fill:#e3b7b2}',
].join('');

function words(x: number, y: number, text: string, kind: string): string {
  return `<text x="${x.toFixed(0)}" y="${String(y)}" class="${kind}">${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
}

function grouped(value: number): string {
  return value.toFixed(0).replaceAll(/\B(?=(\d{3})+$)/gu, ',');
}
