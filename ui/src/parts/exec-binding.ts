// The card that selects which node runs commands: for all agents, and for each agent of `agents.list`.
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";

import type { App } from "../app.ts";
import {
  bindingsOf,
  boundAt,
  choose,
  nodeOptions,
  parseConfigFile,
  patchOf,
  rebase,
  unmet,
  type Bindings,
  type Choice,
} from "../nodes/binding.ts";
import { isEditConflict } from "../nodes/edit-conflict.ts";
import { Watch, type PageState } from "../state.ts";
import type { ConfigSnapshot } from "../../../src/protocol/methods/config.ts";
import type { NodeRow } from "../../../src/protocol/methods/nodes.ts";
import { formatCount } from "../format.ts";
import "./copy-line.ts";
import { drawFailure } from "./failure.ts";
import { LightElement } from "./light-element.ts";
import { drawLoad, Load } from "./load.ts";

type SaveNotice = "saved" | "stale" | "unmet";

export class ExecBinding extends LightElement {
  static override properties = {
    app: { attribute: false },
    nodes: { attribute: false },
    choices: { state: true },
    isSaving: { state: true },
    notice: { state: true },
    error: { state: true },
  };
  declare app: App;
  declare nodes: readonly NodeRow[];
  declare choices: readonly Choice[];
  declare isSaving: boolean;
  declare notice: SaveNotice | undefined;
  declare error: unknown;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  readonly #config = new Load(this, () => this.#read());
  #seen: Bindings | undefined;

  constructor() {
    super();
    this.nodes = [];
    this.choices = [];
    this.isSaving = false;
  }

  protected override willUpdate(): void {
    this.#config.want(String(this.#state.value.epoch));
  }

  protected override render(): TemplateResult {
    return html`
      <h2>Exec node binding</h2>
      ${drawLoad(this.#config, "the config", (config) => (config.valid ? this.#draw(config) : drawInvalid()))}
    `;
  }

  #draw(config: ConfigSnapshot): TemplateResult {
    const bindings = bindingsOf(config.config);
    return html`
      <p class="quiet">
        Which node runs commands with host=node. Only nodes that offer <code>system.run</code> can be selected.
        ${bindings.host === "node" ? nothing : html`Commands now run on host ${bindings.host}; to run them on a node:`}
      </p>
      ${bindings.host === "node" ? nothing : html`<copy-line .text=${"openclaw config set tools.exec.host node"}></copy-line>`}
      <form class="schema-form" @submit=${this.#submit}>
        <div class="pairs">
          ${this.#drawSelect(bindings, "global", "All agents", "Any node")}
          ${bindings.agents.map(({ id }, index) => this.#drawSelect(bindings, index, `Agent ${id}`, "Inherit global"))}
        </div>
        ${bindings.agents.length === 0 ? html`<p class="quiet"><code>agents.list</code> is empty, so this applies to every agent.</p>` : nothing}
        <div class="actions">
          <button class="button primary" type="submit" ?disabled=${this.isSaving || this.choices.length === 0}>
            ${this.isSaving ? "Saving …" : "Save binding"}
          </button>
          <span class="quiet">
            ${this.choices.length === 0 ? "Saving restarts the gateway. This page reconnects automatically." : `${formatCount(this.choices.length, "change")} not saved yet.`}
          </span>
        </div>
      </form>
      <div aria-live="polite">${this.#drawNotice()}</div>
    `;
  }

  #drawSelect(bindings: Bindings, at: Choice["at"], label: string, unset: string): TemplateResult {
    const stored = boundAt(bindings, at);
    const choice = this.choices.find((one) => one.at === at);
    const bound = choice === undefined ? stored : choice.to;
    return html`
      <div class="field">
        <label for=${`binding-${at}`}><span class="label">${label}</span></label>
        <select
          id=${`binding-${at}`}
          ?disabled=${this.isSaving}
          .value=${live(bound ?? "")}
          @change=${(event: Event) => this.#choose(bindings, at, (event.target as HTMLSelectElement).value)}
        >
          <option value="" ?selected=${bound === undefined}>${unset}</option>
          ${nodeOptions(this.nodes, stored).map(({ value, label: name }) => html`<option value=${value} ?selected=${value === bound}>${name}</option>`)}
        </select>
      </div>
    `;
  }

  #drawNotice(): TemplateResult | typeof nothing {
    if (this.error !== undefined) return drawFailure(this.error);
    return this.notice === undefined
      ? nothing
      : html`<p class="note ${noticeTones[this.notice]}" role="status">${noticeTexts[this.notice]}</p>`;
  }

  #choose(bindings: Bindings, at: Choice["at"], value: string): void {
    this.notice = undefined;
    this.error = undefined;
    this.choices = choose(this.choices, bindings, at, value === "" ? undefined : value);
  }

  /** Keeps choices when another client changed the config, except for the same setting. */
  async #read(): Promise<ConfigSnapshot> {
    const config = await this.app.client.request("config.get", {});
    const now = bindingsOf(config.config);
    if (this.#seen !== undefined) this.choices = rebase(this.choices, this.#seen, now);
    this.#seen = now;
    return config;
  }

  readonly #submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const config = this.#config.value;
    if (config === undefined || this.choices.length === 0) return;
    this.isSaving = true;
    this.notice = undefined;
    this.error = undefined;
    try {
      await this.#save(config);
    } catch (error) {
      if (isEditConflict(error)) this.notice = "stale";
      else this.error = error;
    }
    this.isSaving = false;
    this.#config.reload();
  };

  async #save({ raw, hash }: ConfigSnapshot): Promise<void> {
    const { choices } = this;
    const written = choices.some(({ at }) => at !== "global") ? await parseConfigFile(raw) : undefined;
    const patch = JSON.stringify(patchOf(written, choices));
    const saved = await this.app.client.request("config.patch", { raw: patch, baseHash: hash });
    this.notice = unmet(choices, bindingsOf(saved.config)).length === 0 ? "saved" : "unmet";
    this.choices = [];
  }
}

const noticeTones: Readonly<Record<SaveNotice, string>> = { saved: "quiet", stale: "warn", unmet: "warn" };
const noticeTexts: Readonly<Record<SaveNotice, string>> = {
  saved: "Saved. The gateway is restarting; this page reconnects automatically.",
  stale: "Not saved: the config changed since it was loaded. It was loaded again; review it and save once more.",
  unmet: "Saved, but an included config file sets another value, which takes precedence.",
};

function drawInvalid(): TemplateResult {
  return html`
    <p>The config file is not valid, so the binding cannot be changed here. To find the problem:</p>
    <copy-line .text=${"openclaw doctor"}></copy-line>
  `;
}

customElements.define("exec-binding", ExecBinding);
