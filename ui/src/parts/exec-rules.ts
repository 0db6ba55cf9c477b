// The card that edits the approvals file of the gateway or of a node: rules and allowlist.
import { html, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import { live } from "lit/directives/live.js";

import { visible } from "../../../src/core/visible.ts";
import type { App } from "../app.ts";
import {
  addEdit,
  applyEdits,
  defaults,
  effective,
  entriesOf,
  scopesOf,
  toSnapshot,
  toWire,
  type AllowEntry,
  type RuleEdit,
  type RuleKey,
  type RulesFile,
  type RulesSnapshot,
} from "../nodes/rules.ts";
import { isEditConflict } from "../nodes/edit-conflict.ts";
import { Watch, type PageState } from "../state.ts";
import type { NodeRow } from "../../../src/protocol/methods/nodes.ts";
import { formatCount } from "../format.ts";
import "./allow-list.ts";
import { drawFailure } from "./failure.ts";
import { LightElement } from "./light-element.ts";
import { drawLoad, Load } from "./load.ts";
import { drawRules } from "./rule-fields.ts";
import { drawObstacle, obstacleOf, targetName, type Obstacle } from "./rules-obstacle.ts";

/** Id of the node whose file is shown; empty for the gateway. */
type Target = string;

interface Shown extends RulesSnapshot {
  readonly target: Target;
}

export class ExecRules extends LightElement {
  static override properties = {
    app: { attribute: false },
    nodes: { attribute: false },
    agents: { attribute: false },
    target: { state: true },
    scope: { state: true },
    edits: { state: true },
    isSaving: { state: true },
    notice: { state: true },
    error: { state: true },
  };
  declare app: App;
  declare nodes: readonly NodeRow[];
  declare agents: readonly string[];
  declare target: Target;
  declare scope: string;
  /** Unsaved edits per machine, so that switching between machines loses nothing. */
  declare edits: ReadonlyMap<Target, readonly RuleEdit[]>;
  declare isSaving: boolean;
  declare notice: "saved" | "stale" | undefined;
  declare error: unknown;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  readonly #shown = new Load(this, () => this.#read(this.target));

  constructor() {
    super();
    this.nodes = [];
    this.agents = [];
    this.target = "";
    this.scope = defaults;
    this.edits = new Map();
    this.isSaving = false;
  }

  protected override willUpdate(): void {
    if (this.#obstacle() !== undefined) return;
    this.#shown.want(JSON.stringify([this.#state.value.epoch, this.target]));
  }

  protected override render(): TemplateResult {
    return html`
      <h2>Exec approvals</h2>
      <p class="quiet">
        Each machine has its own approvals file. Of that file and <code>tools.exec</code>, the stricter setting applies.
      </p>
      <div class="pairs">
        <div class="field">
          <label for="rules-target"><span class="label">Target</span></label>
          <select id="rules-target" .value=${live(this.target)} @change=${this.#setTarget}>
            <option value="" ?selected=${this.target === ""}>Gateway</option>
            ${this.nodes.map((node) => html`<option value=${node.nodeId} ?selected=${this.target === node.nodeId}>${targetName(node)}</option>`)}
          </select>
        </div>
        ${this.#drawScope()}
      </div>
      ${this.#drawTarget()}
    `;
  }

  #obstacle(): Obstacle | undefined {
    return this.target === "" ? undefined : obstacleOf(this.nodes.find(({ nodeId }) => nodeId === this.target));
  }

  #drawTarget(): TemplateResult {
    const obstacle = this.#obstacle();
    if (obstacle !== undefined) return drawObstacle(obstacle);
    // Never shows the file of another machine while this one loads.
    if (this.#shown.error === undefined && this.#shown.value?.target !== this.target)
      return html`<p class="quiet" role="status">Loading the approvals …</p>`;
    return drawLoad(this.#shown, "the approvals", (shown) =>
      shown.target === this.target ? this.#draw(shown) : nothing,
    );
  }

  #drawScope(): TemplateResult {
    const file = this.#shown.value?.target === this.target ? this.#shown.value.file : undefined;
    const scopes = scopesOf(file ?? { defaults: {}, agents: {}, rest: {} }, this.agents);
    const known = scopes.includes(this.scope) || this.scope === defaults ? scopes : [...scopes, this.scope];
    return html`
      <div class="field">
        <label for="rules-scope"><span class="label">Scope</span></label>
        <select
          id="rules-scope"
          .value=${live(this.scope)}
          @change=${(event: Event) => (this.scope = (event.target as HTMLSelectElement).value)}
        >
          <option value=${defaults} ?selected=${this.scope === defaults}>Defaults</option>
          ${known.map((id) => html`<option value=${id} ?selected=${this.scope === id}>${id === "*" ? "All agents (*)" : `Agent ${visible(id, 60)}`}</option>`)}
        </select>
      </div>
    `;
  }

  #draw(shown: Shown): TemplateResult {
    const edits = effective(shown.file, this.#currentEdits());
    const file = applyEdits(shown.file, edits);
    return html`
      <p class="quiet">File <code>${visible(shown.path, 200)}</code></p>
      <div class="schema-form">
        <div class="pairs wide-pairs">
          ${drawRules({ file, scope: this.scope, isBusy: this.isSaving, set: (key, text) => this.#set(key, text) })}
        </div>
        ${this.scope === defaults ? html`<p class="quiet">The allowlist is set per agent: select an agent, or all agents, under Scope.</p>` : this.#drawList(file, shown)}
        <div class="actions">
          <button
            class="button primary"
            type="button"
            ?disabled=${this.isSaving || edits.length === 0}
            @click=${() => this.#save(shown, edits)}
          >
            ${this.isSaving ? "Saving …" : "Save approvals"}
          </button>
          ${
            edits.length === 0
              ? nothing
              : html`<button class="button" type="button" ?disabled=${this.isSaving} @click=${this.#discard}>
                    Discard
                  </button>
                  <span class="quiet">${formatCount(edits.length, "change")} not saved yet.</span>`
          }
        </div>
      </div>
      <div aria-live="polite">${this.#drawNotice()}</div>
    `;
  }

  #drawList(file: RulesFile, shown: Shown): TemplateResult {
    const { scope } = this;
    return html`${keyed(
      JSON.stringify([this.target, scope]),
      html`<allow-list
        .entries=${entriesOf(file, scope)}
        .saved=${entriesOf(shown.file, scope)}
        ?busy=${this.isSaving}
        @add=${({ detail }: CustomEvent<string>) => this.#edit({ kind: "add", scope, pattern: detail })}
        @remove=${({ detail }: CustomEvent<AllowEntry>) => this.#edit({ kind: "remove", scope, entry: detail })}
      ></allow-list>`,
    )}`;
  }

  #drawNotice(): TemplateResult | typeof nothing {
    if (this.error !== undefined) return drawFailure(this.error);
    if (this.notice === undefined) return nothing;
    if (this.notice === "saved") return html`<p class="note quiet" role="status">Saved.</p>`;
    return html`
      <div class="note warn" role="status">
        <p>Not saved: the file changed since it was loaded. Each use of an allowed program updates it, too.</p>
        <div class="actions">
          <button class="button small" type="button" @click=${this.#reloadFile}>Reload, keep my changes</button>
        </div>
      </div>
    `;
  }

  #currentEdits(): readonly RuleEdit[] {
    return this.edits.get(this.target) ?? [];
  }

  #edit(edit: RuleEdit): void {
    this.notice = undefined;
    this.error = undefined;
    this.edits = new Map(this.edits).set(this.target, addEdit(this.#currentEdits(), edit));
  }

  #set(key: RuleKey, text: string): void {
    const value = key === "autoAllowSkills" ? text === "yes" : text;
    this.#edit({ kind: "set", scope: this.scope, key, value: text === "" ? undefined : value });
  }

  readonly #discard = (): void => {
    this.notice = undefined;
    this.error = undefined;
    this.edits = new Map(this.edits).set(this.target, []);
  };

  readonly #reloadFile = (): void => {
    this.notice = undefined;
    this.#shown.reload();
  };

  readonly #setTarget = (event: Event): void => {
    this.target = (event.target as HTMLSelectElement).value;
    this.notice = undefined;
    this.error = undefined;
  };

  async #read(target: Target): Promise<Shown> {
    const { client } = this.app;
    const answer = await (target === ""
      ? client.request("exec.approvals.get", {})
      : client.request("exec.approvals.node.get", { nodeId: target }));
    return { ...toSnapshot(answer), target };
  }

  async #save({ file, hash, target }: Shown, edits: readonly RuleEdit[]): Promise<void> {
    const { client } = this.app;
    const change = { file: toWire(applyEdits(file, edits)), baseHash: hash };
    this.isSaving = true;
    this.notice = undefined;
    const failure = await (
      target === ""
        ? client.request("exec.approvals.set", change)
        : client.request("exec.approvals.node.set", { nodeId: target, ...change })
    ).then(
      () => undefined,
      (error: unknown) => error ?? new Error("The gateway rejected the request without a reason."),
    );
    this.isSaving = false;
    this.notice = failure === undefined ? "saved" : isEditConflict(failure) ? "stale" : undefined;
    this.error = this.notice === undefined ? failure : undefined;
    if (failure !== undefined) return;
    this.edits = new Map(this.edits).set(target, []);
    this.#shown.reload();
  }
}

customElements.define("exec-rules", ExecRules);
