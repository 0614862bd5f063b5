import { type BenchArguments, readArguments } from './arguments.ts';
import { type CompareArguments, readCompareArguments } from './compare-arguments.ts';

/** What `npm run bench --` is told: a job, or the comparison with rivals, which is what it does without one. */
export type BenchCommand =
  | { readonly do: 'compare'; readonly options: CompareArguments }
  /** Puts what `--json` has kept of a comparison, of `metrics` or of `odd` into docs/performance.md. */
  | { readonly do: 'publish'; readonly file: string }
  | { readonly do: 'job'; readonly options: BenchArguments };

/** The command, or a text that says what is wrong with it. */
export function readCommand(args: readonly string[]): BenchCommand | string {
  const [first, second] = args;
  if (first === 'publish')
    return second === undefined ? 'npm run bench -- publish FILE.json' : { do: 'publish', file: second };
  if (first === undefined || first === 'compare' || first.startsWith('--')) {
    const options = readCompareArguments(first === 'compare' ? args.slice(1) : args);
    return typeof options === 'string' ? options : { do: 'compare', options };
  }
  const options = readArguments(args);
  return typeof options === 'string' ? options : { do: 'job', options };
}
