/** Holds are what a person came for. */
const ALARMING = 'holds';

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d8dde4, #353b45); --soft: light-dark(#5b6573, #9aa5b4); --card: light-dark(#fff, #1b1f26); --alarm: light-dark(#b3261e, #ff8a80); --fine: light-dark(#1b7f4b, #6fd39b); }
body { margin: 0; padding: 2rem 1.25rem; background: light-dark(#f4f6f8, #12151a); color: light-dark(#1c2430, #e5e9ef); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 68rem; margin: 0 auto; }
h1 { font-size: 1.3rem; margin: 0 0 1rem; }
h2 { font-size: .95rem; margin: 1.5rem 0 .5rem; color: var(--soft); font-weight: 600; }
h2.alarm { color: var(--alarm); }
.state { font-weight: 600; margin-left: .6rem; font-size: .85rem; padding: .15rem .6rem; border: 1px solid; border-radius: 1rem; color: var(--fine); }
.state.alarm { color: var(--alarm); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; overflow-x: auto; }
dl { display: grid; grid-template-columns: max-content 1fr; margin: 0; padding: .6rem 1rem; gap: .2rem 1.5rem; }
dt { color: var(--soft); }
dd { margin: 0; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .4rem 1rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
tr:last-child td { border-bottom: 0; }
p { margin: 0; padding: .6rem 1rem; color: var(--soft); }
td dl { padding: 0; }
`;

export interface PageState {
  readonly live: boolean;
  readonly ready: boolean;
}

/**
 * A status for people: the same values as the JSON, as one HTML page without scripts, forms or anything loaded. Lists of
 * objects become tables, all else names and values; every text is escaped.
 */
export function statusPage(status: object, state: PageState): string {
  const entries = Object.entries(status) as readonly [string, unknown][];
  const plain = entries.filter(([, value]) => !isComposite(value));
  const sections = entries
    .filter(([, value]) => isComposite(value))
    .toSorted(([a], [b]) => Number(b === ALARMING) - Number(a === ALARMING));
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>fraud-screening-connector</title><style>${STYLE}</style></head>
<body><main>
<h1>fraud-screening-connector ${stateOf(state)}</h1>
${plain.length === 0 ? '' : card(pairs(plain))}
${sections.map(([name, value]) => section(name, value)).join('\n')}
</main></body>
</html>
`;
}

function stateOf({ live, ready }: PageState): string {
  const word = live ? (ready ? 'ready' : 'not ready') : 'not live';
  return `<span class="state${live && ready ? '' : ' alarm'}">${word}</span>`;
}

function section(name: string, value: unknown): string {
  const alarm = name === ALARMING && Array.isArray(value) && value.length > 0 ? ' class="alarm"' : '';
  return `<section><h2${alarm}>${words(name)}</h2>${card(shown(value))}</section>`;
}

function card(content: string): string {
  return `<div class="card">${content}</div>`;
}

function shown(value: unknown): string {
  if (!Array.isArray(value)) return isComposite(value) ? pairs(Object.entries(value)) : escaped(scalar(value));
  const rows: readonly unknown[] = value;
  if (rows.length === 0) return '<p>None.</p>';
  if (rows.every((row) => isComposite(row) && !Array.isArray(row))) return table(rows as readonly object[]);
  return `<p>${escaped(rows.map(scalar).join(', '))}</p>`;
}

/** A value under its name: milliseconds are shown as people say them. */
function named(name: string, value: unknown): string {
  return name.endsWith('Ms') && typeof value === 'number' ? spell(value) : shown(value);
}

function spell(ms: number): string {
  if (ms < 1000) return `${String(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 7_200_000 ? `${(ms / 60_000).toFixed(0)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}

function table(rows: readonly object[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const head = columns.map((column) => `<th>${words(column)}</th>`).join('');
  const lines = rows.map((row) => {
    const cells = new Map<string, unknown>(Object.entries(row));
    return `<tr>${columns.map((column) => `<td>${named(column, cells.get(column))}</td>`).join('')}</tr>`;
  });
  return `<table><thead><tr>${head}</tr></thead><tbody>${lines.join('')}</tbody></table>`;
}

function pairs(entries: readonly (readonly [string, unknown])[]): string {
  if (entries.length === 0) return '<p>None.</p>';
  return `<dl>${entries.map(([name, value]) => `<dt>${words(name)}</dt><dd>${named(name, value)}</dd>`).join('')}</dl>`;
}

function isComposite(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function scalar(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}

/** `oldestUnfinishedMs` → `oldest unfinished`; names that are codes stay as they are. */
function words(name: string): string {
  return escaped(
    name
      .replace(/Ms$/, '')
      .replaceAll(/([a-z])([A-Z])/g, (_all, last: string, first: string) => `${last} ${first.toLowerCase()}`),
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
