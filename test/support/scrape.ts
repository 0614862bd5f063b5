/** One line of a scrape. */
export interface ScrapedSample {
  /** With `_bucket`, `_sum` or `_count` where it is one of a histogram. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** An answer of `/metrics`, taken apart. */
export interface Scrape {
  /** `counter`, `gauge`, `histogram` or `summary`, by the name of the metric. */
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly ScrapedSample[];
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/gy;

/** Reads Prometheus' text format strictly: a line that is none throws. */
export function readScrape(text: string): Scrape {
  const types = new Map<string, string>();
  const samples: ScrapedSample[] = [];
  for (const line of text.split('\n')) {
    const [, typed, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (typed !== undefined && type !== undefined) {
      if (types.has(typed)) throw new Error(`${typed} is there twice`);
      types.set(typed, type);
    } else if (line !== '' && !line.startsWith('#')) samples.push(readSample(line));
  }
  return { types, samples };
}

function readSample(line: string): ScrapedSample {
  const [, name, inner = '', value] = SAMPLE.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`no sample: ${line}`);
  const labels = [...inner.matchAll(LABEL)];
  if (labels.map(([whole]) => whole).join('') !== inner) throw new Error(`no labels: ${line}`);
  const number = value === '+Inf' ? Infinity : value === '-Inf' ? -Infinity : Number(value);
  if (Number.isNaN(number) && value !== 'NaN') throw new Error(`no number: ${line}`);
  return { name, labels: Object.fromEntries(labels.map(([, key = '', held = '']) => [key, held])), value: number };
}

/** The sum of all samples of this name whose labels are at least these. */
export function sumOf({ samples }: Scrape, name: string, labels: Readonly<Record<string, string>> = {}): number {
  return samples
    .filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, held]) => sample.labels[key] === held),
    )
    .reduce((sum, { value }) => sum + value, 0);
}
