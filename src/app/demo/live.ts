import { type Screen } from '../../edges/system/screen.ts';
import { type Cancel, type Clock } from '../../kernel/clock.ts';
import { History } from './history.ts';
import { type Moment } from './moment.ts';
import { type Observer } from './observer.ts';
import { type Places, type Scene } from './scene.ts';
import { view } from './view.ts';

export interface LiveParts {
  readonly observer: Pick<Observer, 'look' | 'forMs'>;
  readonly places: () => Places;
  readonly clock: Clock;
  readonly colour: boolean;
  /** Until the shops close; null: until somebody says so. */
  readonly forMs: number | null;
  /** What each key does; answers what there is to say about it. */
  readonly keys: Readonly<Record<string, () => string>>;
  /** Opens the screen; keys are told to the listener. */
  readonly openScreen: (onKey: (key: string) => void) => Screen;
}

const DRAW_EVERY_MS = 250;
const LOOK_EVERY_MS = 500;
const MOST_NEWS = 20;

/** The live picture: looks twice a second, draws four times a second, and does what keys say. */
export class Live {
  readonly #parts: LiveParts;
  readonly #screen: Screen;
  readonly #history = new History();
  readonly #news: string[] = [];
  #act: Scene['act'] = 'open';
  #moment: Moment;
  #illUntilMs = -Infinity;
  #cancelDraw: Cancel = () => undefined;
  #cancelLook: Cancel = () => undefined;
  #looking: Promise<void> = Promise.resolve();
  #isOpen = true;

  private constructor(parts: LiveParts, first: Moment) {
    this.#parts = parts;
    this.#moment = first;
    this.#screen = parts.openScreen((key) => {
      this.#press(key);
    });
    this.#draw();
    this.#lookLater();
  }

  /** Looks once and takes the screen over. */
  static async open(parts: LiveParts): Promise<Live> {
    return new Live(parts, await parts.observer.look());
  }

  /** Something has happened. */
  tell(line: string): void {
    this.#news.push(line);
    if (this.#news.length > MOST_NEWS) this.#news.shift();
  }

  /** The shops are closed. */
  wait(): void {
    this.#act = 'waiting';
  }

  /** Looks for the last time: from now on only the time goes on. */
  async freeze(): Promise<void> {
    this.#act = 'stopping';
    this.#cancelLook();
    await this.#looking;
    await this.#look();
  }

  /** The service is ill for so long from now on. */
  ill(forMs: number): void {
    this.#illUntilMs = this.#parts.clock.monotonicMs() + forMs;
  }

  /** Gives the screen back. Answers the last picture, as wide as it was; a second call answers nothing. */
  async close(): Promise<readonly string[]> {
    if (!this.#isOpen) return [];
    this.#isOpen = false;
    this.#cancelDraw();
    this.#cancelLook();
    const { columns } = this.#screen.size;
    this.#screen.close();
    await this.#looking;
    return view(this.#scene(true), { columns, rows: Infinity }, this.#parts.colour);
  }

  #press(key: string): void {
    const act = this.#parts.keys[key.toLowerCase()];
    if (act === undefined || !this.#isOpen) return;
    this.tell(act());
    this.#draw();
  }

  #scene(last: boolean): Scene {
    const { observer, clock, forMs, places } = this.#parts;
    const illForMs = this.#illUntilMs - clock.monotonicMs();
    return {
      forMs: observer.forMs,
      leftMs: forMs === null ? null : Math.max(0, forMs - observer.forMs),
      act: this.#act,
      moment: this.#moment,
      rate: (of) => this.#history.rate(of),
      series: (of) => this.#history.series(of),
      places: places(),
      news: this.#news,
      illForMs: illForMs > 0 ? illForMs : null,
      last,
    };
  }

  #draw(): void {
    this.#cancelDraw();
    this.#screen.draw(view(this.#scene(false), this.#screen.size, this.#parts.colour));
    this.#cancelDraw = this.#parts.clock.after(DRAW_EVERY_MS, () => {
      this.#draw();
    });
  }

  #lookLater(): void {
    this.#cancelLook = this.#parts.clock.after(LOOK_EVERY_MS, () => {
      // One look at a time; `close` waits for it.
      this.#looking = this.#look();
    });
  }

  async #look(): Promise<void> {
    this.#moment = await this.#parts.observer.look();
    this.#history.add(this.#moment, this.#parts.clock.monotonicMs());
    if (this.#isOpen && this.#act !== 'stopping') this.#lookLater();
  }
}
