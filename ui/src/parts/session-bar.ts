// The header of the open session: name, model, thinking level and menu.
import { html, nothing, type TemplateResult } from "lit";

import { thinkingLevels } from "../../../src/core/thinking-level.ts";
import type { App } from "../app.ts";
import { conversationsOf } from "../chat/conversation-store.ts";
import { titleOf, type ShownSession } from "../chat/session-name.ts";
import { toHash } from "../route.ts";
import type { KnownModel } from "../../../src/protocol/methods/models.ts";
import type { SessionList } from "../../../src/protocol/methods/sessions.ts";
import { drawFailure } from "./failure.ts";
import { LightElement } from "./light-element.ts";

type Mode = "plain" | "rename" | "reset" | "delete";

export class SessionBar extends LightElement {
  static override properties = {
    app: { attribute: false },
    row: { attribute: false },
    models: { attribute: false },
    defaults: { attribute: false },
    thinking: {},
    listing: { type: Boolean },
    mode: { state: true },
    failure: { state: true },
    isBusy: { state: true },
  };
  declare app: App;
  declare row: ShownSession;
  declare models: readonly KnownModel[];
  declare defaults: SessionList["defaults"];
  declare thinking: string;
  /** On a small screen: the list of sessions is shown instead of the conversation. */
  declare listing: boolean;
  declare mode: Mode;
  declare failure: unknown;
  declare isBusy: boolean;

  constructor() {
    super();
    this.mode = "plain";
    this.isBusy = false;
    this.listing = false;
  }

  protected override render(): TemplateResult {
    return html`
      <header class="session-bar">
        <button
          class="button small sessions-button"
          type="button"
          aria-expanded=${this.listing}
          @click=${this.#showList}
        >
          Sessions
        </button>
        ${this.mode === "rename" ? this.#drawRename() : html`<h1 class="chat-title">${titleOf(this.row)}</h1>`}
        <div class="session-settings">${this.#drawModel()} ${this.#drawThinking()} ${this.#drawMenu()}</div>
      </header>
      ${this.mode === "reset" ? this.#drawConfirm("Start over? The model forgets this conversation. The old transcript is kept.", "Start over", this.#reset) : nothing}
      ${this.mode === "delete" ? this.#drawConfirm("Delete this session and its transcript?", "Delete", this.#delete) : nothing}
      ${this.failure === undefined ? nothing : drawFailure(this.failure)}
    `;
  }

  #drawRename(): TemplateResult {
    return html`
      <form class="rename" @submit=${this.#rename}>
        <input name="label" aria-label="Session name" maxlength="64" .value=${this.row.label ?? ""} />
        <button class="button small primary" type="submit" ?disabled=${this.isBusy}>Save</button>
        <button class="button small" type="button" @click=${this.#cancel}>Cancel</button>
      </form>
    `;
  }

  #drawModel(): TemplateResult {
    const { providerOverride, modelOverride } = this.row;
    const chosen =
      modelOverride === undefined ? "" : referenceOf({ id: modelOverride, provider: providerOverride ?? "" });
    const usual = this.defaults?.model;
    const known = this.models.map(referenceOf);
    const extra = chosen === "" || known.includes(chosen) ? [] : [chosen];
    return html`
      <select class="compact" aria-label="Model" ?disabled=${this.isBusy} @change=${this.#setModel}>
        <option value="" ?selected=${chosen === ""}>
          ${usual === null || usual === undefined ? "default model" : `default (${usual})`}
        </option>
        ${[...extra, ...known].map((reference) => html`<option value=${reference} ?selected=${reference === chosen}>${reference}</option>`)}
      </select>
    `;
  }

  #drawThinking(): TemplateResult {
    return html`
      <select class="compact" aria-label="Thinking" ?disabled=${this.isBusy} @change=${this.#setThinking}>
        ${thinkingLevels.map((level) => html`<option value=${level} ?selected=${level === this.thinking}>thinking: ${level}</option>`)}
      </select>
    `;
  }

  #drawMenu(): TemplateResult {
    const isMain = this.row.key === this.app.store.value.hello?.snapshot.sessionDefaults?.mainSessionKey;
    return html`
      <details class="menu" @focusout=${closeWhenLeft} @keydown=${closeOnEscape}>
        <summary class="button small">More</summary>
        <div class="menu-box" role="group" aria-label="This session">
          <button class="button small" type="button" @click=${() => this.#setMode("rename")}>Rename</button>
          <button class="button small" type="button" @click=${() => this.#setMode("reset")}>Start over</button>
          ${isMain ? nothing : html`<button class="button small" type="button" @click=${() => this.#setMode("delete")}>Delete</button>`}
        </div>
      </details>
    `;
  }

  #drawConfirm(question: string, act: string, step: () => void): TemplateResult {
    return html`
      <div class="note warn banner" role="alertdialog" aria-label=${question}>
        <span>${question}</span>
        <div class="actions">
          <button class="button small primary" type="button" ?disabled=${this.isBusy} @click=${step}>${act}</button>
          <button class="button small" type="button" @click=${this.#cancel}>Cancel</button>
        </div>
      </div>
    `;
  }

  readonly #cancel = (): void => {
    this.mode = "plain";
  };

  async #setMode(mode: Mode): Promise<void> {
    this.mode = this.mode === mode ? "plain" : mode;
    this.querySelector("details.menu")?.removeAttribute("open");
    await this.updateComplete;
    this.querySelector<HTMLElement>(".rename input, [role=alertdialog] .primary")?.focus();
  }

  readonly #showList = (): void => {
    this.dispatchEvent(new CustomEvent("sessions", { bubbles: true }));
  };

  readonly #setModel = (event: Event): void => {
    const model = (event.target as HTMLSelectElement).value;
    void this.#act(() =>
      this.app.client.request("sessions.patch", { key: this.row.key, model: model === "" ? null : model }),
    );
  };

  readonly #setThinking = (event: Event): void => {
    const thinkingLevel = (event.target as HTMLSelectElement).value;
    void this.#act(() => this.app.client.request("sessions.patch", { key: this.row.key, thinkingLevel }));
  };

  readonly #rename = (event: Event): void => {
    event.preventDefault();
    const label = this.querySelector<HTMLInputElement>(".rename input")?.value.trim() ?? "";
    void this.#act(() =>
      this.app.client.request("sessions.patch", { key: this.row.key, label: label === "" ? null : label }),
    );
  };

  readonly #reset = (): void => {
    void this.#act(() => this.app.client.request("sessions.reset", { key: this.row.key }));
  };

  readonly #delete = (): void => {
    const gone = this.#act(() => this.app.client.request("sessions.delete", { key: this.row.key }));
    void gone.then((isDone) => isDone && (location.hash = toHash("chat")));
  };

  async #act(step: () => Promise<unknown>): Promise<boolean> {
    this.isBusy = true;
    this.failure = await step().then(
      () => undefined,
      (error: unknown) => error ?? new Error("The gateway rejected the request without a reason."),
    );
    this.isBusy = false;
    if (this.failure !== undefined) return false;
    this.mode = "plain";
    conversationsOf(this.app).reread(this.row.key);
    this.dispatchEvent(new CustomEvent("changed", { bubbles: true }));
    return true;
  }
}

function referenceOf({ provider, id }: Pick<KnownModel, "id" | "provider">): string {
  return provider === undefined || provider === "" ? id : `${provider}/${id}`;
}

function closeWhenLeft(event: FocusEvent): void {
  const menu = event.currentTarget as HTMLDetailsElement;
  if (event.relatedTarget instanceof Node && !menu.contains(event.relatedTarget)) menu.open = false;
}

function closeOnEscape(event: KeyboardEvent): void {
  if (event.key !== "Escape") return;
  const menu = event.currentTarget as HTMLDetailsElement;
  menu.open = false;
  menu.querySelector("summary")?.focus();
}

customElements.define("session-bar", SessionBar);
