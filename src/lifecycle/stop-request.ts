/** Whether, and why, the process has been asked to end. Asked once; later requests are answered by `asked` alone. */
export class StopRequest {
  #reason: string | null = null;
  readonly #asked: Promise<string>;
  #resolve: (reason: string) => void = () => undefined;

  constructor() {
    this.#asked = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get reason(): string | null {
    return this.#reason;
  }

  /** Resolves with the reason of the first request. */
  async asked(): Promise<string> {
    return await this.#asked;
  }

  /** True: this was the first request. */
  ask(reason: string): boolean {
    if (this.#reason !== null) return false;
    this.#reason = reason;
    this.#resolve(reason);
    return true;
  }
}
