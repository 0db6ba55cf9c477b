// The card shown without a model: use a model that was found, or add one.
import { html, nothing, type TemplateResult } from "lit";

import type { App } from "../app.ts";
import { textOf } from "../credential.ts";
import type { FoundModel, ModelTest } from "../../../src/protocol/methods/models.ts";
import { formatElapsed } from "../format.ts";
import { badge } from "./badge.ts";
import "./copy-line.ts";
import { drawFailure } from "./failure.ts";
import { drawHint } from "./hint.ts";
import { LightElement } from "./light-element.ts";
import { drawLoad, Load } from "./load.ts";

/** A local model may have to be loaded from disk first. */
const testMs = 120_000;

type Attempt =
  | { readonly phase: "testing" }
  | { readonly phase: "tested"; readonly test: ModelTest }
  | { readonly phase: "failed"; readonly error: unknown };

export class FirstModel extends LightElement {
  static override properties = { app: { attribute: false }, answering: { type: Boolean }, attempts: { state: true } };
  declare app: App;
  /** A found server already answers; selecting it writes it to the config. */
  declare answering: boolean;
  declare attempts: ReadonlyMap<string, Attempt>;
  readonly #scan = new Load(this, () => this.app.client.request("models.scan", {}, testMs));

  constructor() {
    super();
    this.attempts = new Map();
    this.answering = false;
  }

  protected override willUpdate(): void {
    this.#scan.want(String(this.app.store.value.epoch));
  }

  protected override render(): TemplateResult {
    return html`
      <section class="card first-model" aria-labelledby="first-model-title">
        <h2 id="first-model-title">
          ${this.answering ? "No model selected" : "No model configured"}
          <button class="button small" type="button" ?disabled=${this.#scan.isLoading} @click=${this.#scan.reload}>
            ${this.#scan.isLoading ? "Checking …" : "Check again"}
          </button>
        </h2>
        ${drawLoad(this.#scan, "the available models", ({ found }) => this.#drawFound(found))}
        <details class="more" ?open=${this.#scan.value?.found.length === 0}>
          <summary>How to add a model</summary>
          <ul class="plain-list">
            <li>
              Set an API key in the environment and restart the gateway:
              <copy-line .text=${"ANTHROPIC_API_KEY=… openclaw gateway run"}></copy-line>
              <span class="quiet">OPENAI_API_KEY, GEMINI_API_KEY and OPENROUTER_API_KEY work the same way.</span>
            </li>
            <li>Or follow the setup steps: <copy-line .text=${"openclaw configure --section model"}></copy-line></li>
            <li>
              Or start Ollama, LM Studio or another OpenAI-compatible server on the gateway's machine, then check again.
            </li>
          </ul>
        </details>
        <div class="note quiet">
          <p>Tools work without a model, under the same policy. To try one, send:</p>
          <copy-line .text=${"/tool session_status {}"}></copy-line>
        </div>
      </section>
    `;
  }

  #drawFound(found: readonly FoundModel[]): TemplateResult {
    if (found.length === 0)
      return html`<p>No API key found in the environment, and no model server on the usual ports of this machine.</p>`;
    return html`
      <p>Models found. “Test and use” sends a short request and, if the model answers, makes it the default.</p>
      <ul class="plain-list">
        ${found.map((model) => this.#drawModel(model))}
      </ul>
    `;
  }

  #drawModel(model: FoundModel): TemplateResult {
    const name = `${model.provider}/${model.model}`;
    const attempt = this.attempts.get(name);
    return html`
      <li class="found">
        <div class="row">
          <div>
            <code class="strong">${name}</code> ${model.ready ? nothing : badge("warn", "not ready")}
            <div class="quiet">
              ${[model.source, model.baseUrl].filter((part) => part !== undefined && part !== "").join(" · ")}
            </div>
          </div>
          <button
            class="button small primary"
            type="button"
            aria-label=${`Test and use ${name}`}
            ?disabled=${attempt?.phase === "testing"}
            @click=${() => this.#testAndUse(name, model)}
          >
            ${attempt?.phase === "testing" ? "Testing …" : "Test and use"}
          </button>
        </div>
        <div aria-live="polite">${drawAttempt(attempt)}</div>
      </li>
    `;
  }

  async #testAndUse(name: string, { provider, model, baseUrl }: FoundModel): Promise<void> {
    const { client } = this.app;
    const choice = { provider, model, ...(baseUrl === undefined ? {} : { baseUrl }) };
    this.#setAttempt(name, { phase: "testing" });
    try {
      const test = await client.request("models.test", { provider, model }, testMs);
      this.#setAttempt(name, { phase: "tested", test });
      if (!test.ok) return;
      await client.request("models.use", choice);
      this.dispatchEvent(new CustomEvent("model", { bubbles: true }));
    } catch (error) {
      this.#setAttempt(name, { phase: "failed", error });
    }
  }

  #setAttempt(name: string, attempt: Attempt): void {
    this.attempts = new Map(this.attempts).set(name, attempt);
  }
}

function drawAttempt(attempt: Attempt | undefined): TemplateResult | typeof nothing {
  if (attempt === undefined || attempt.phase === "testing") return nothing;
  if (attempt.phase === "failed") return drawFailure(attempt.error);
  const { test } = attempt;
  if (test.ok)
    return html`<p>${badge("good", "answered")} <span class="quiet">after ${formatElapsed(test.ms)}</span></p>`;
  const { failure } = test;
  const hint = textOf(failure, "hint");
  return html`
    <div class="note bad" role="alert">
      <p>
        <span class="strong">The model did not answer.</span>
        ${typeof failure === "string" ? failure : (textOf(failure, "message") ?? "")}
      </p>
      ${drawHint(hint)}
    </div>
  `;
}

customElements.define("first-model", FirstModel);
