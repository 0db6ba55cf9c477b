// Loads a value from the gateway again when its key changes, and draws its loading and error states.
import { html, nothing, type ReactiveController, type ReactiveControllerHost, type TemplateResult } from "lit";

import { drawFailure } from "./failure.ts";

export class Load<T> implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #read: () => Promise<T>;
  #key: string | undefined;
  #run = 0;
  value: T | undefined;
  error: unknown;
  isLoading = false;

  constructor(host: ReactiveControllerHost, read: () => Promise<T>) {
    this.#host = host;
    this.#read = read;
    host.addController(this);
  }

  hostConnected(): void {
    this.#key = undefined;
  }

  /** Loads when the key changed; call it before each render. */
  want(key: string): void {
    if (key === this.#key) return;
    this.#key = key;
    this.reload();
  }

  readonly reload = (): void => {
    this.#run += 1;
    void this.#load(this.#run);
  };

  async #load(run: number): Promise<void> {
    this.isLoading = true;
    this.#host.requestUpdate();
    const settled = await this.#read().then(
      (value) => ({ value, error: undefined }),
      (error: unknown) => ({ value: this.value, error }),
    );
    if (run !== this.#run) return;
    this.isLoading = false;
    this.value = settled.value;
    this.error = settled.error;
    this.#host.requestUpdate();
  }
}

/** `what` completes "Loading …". The previous value stays visible while it is loaded again. */
export function drawLoad<T>(load: Load<T>, what: string, draw: (value: T) => unknown): TemplateResult {
  const failure =
    load.error === undefined
      ? nothing
      : html`${drawFailure(load.error)}<button class="button" type="button" @click=${load.reload}>Try again</button>`;
  if (load.value !== undefined) return html`${failure}${draw(load.value)}`;
  return load.error === undefined ? html`<p class="quiet" role="status">Loading ${what} …</p>` : html`${failure}`;
}
