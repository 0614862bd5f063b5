import { performance } from 'node:perf_hooks';

/** Something that was done to somebody, for a time. `performance.now()`. */
export interface Stroke {
  readonly target: string;
  readonly what: string;
  readonly fromMs: number;
  /** Null: it lasts. */
  readonly toMs: number | null;
}

/** What was done, to whom, from when to when. */
export class Chronicle {
  readonly #strokes: { -readonly [F in keyof Stroke]: Stroke[F] }[] = [];

  get strokes(): readonly Stroke[] {
    return this.#strokes;
  }

  /** Something begins; to be called when it has ended. */
  begin(target: string, what: string): () => void {
    const stroke = { target, what, fromMs: performance.now(), toMs: null as number | null };
    this.#strokes.push(stroke);
    return () => {
      stroke.toMs = performance.now();
    };
  }
}
