// The card for the approvals file of the gateway or of a node: what commands may do there, and which programs are listed.
import { html, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import { live } from "lit/directives/live.js";

import { HouseError } from "../../../src/core/error.ts";
import { visible } from "../../../src/core/visible.ts";
import type { App } from "../app.ts";
import { nameOf } from "../nodes/binding.ts";
import {
  addEdit,
  applyEdits,
  defaults,
  effective,
  entriesOf,
  inheritedOf,
  levels,
  scopesOf,
  toSnapshot,
  toWire,
  valueOf,
  wordsFor,
  type AllowEntry,
  type Level,
  type RuleEdit,
  type RuleKey,
  type RulesFile,
  type RulesSnapshot,
} from "../nodes/rules.ts";
import { Watch, type PageState } from "../state.ts";
import type { NodeRow } from "../wire.ts";
import { count } from "../words.ts";
import "./allow-list.ts";
import "./copy-line.ts";
import { drawFailure } from "./failure.ts";
import { LightElement } from "./light-element.ts";
import { drawLoad, Load } from "./load.ts";
import { nodeCommand } from "./node-list.ts";

/** The machine whose file is shown; empty for the gateway's own. */
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
    said: { state: true },
    error: { state: true },
  };
  declare app: App;
  declare nodes: readonly NodeRow[];
  declare agents: readonly string[];
  declare target: Target;
  declare scope: string;
  /** Not saved yet, for each machine, so that looking at another one loses nothing. */
  declare edits: ReadonlyMap<Target, readonly RuleEdit[]>;
  declare isSaving: boolean;
  declare said: "saved" | "stale" | undefined;
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
        Each machine keeps its own file of what commands may do there. The stricter of it and <code>tools.exec</code>
        holds.
      </p>
      <div class="pairs">
        <div class="field">
          <label for="rules-target"><span class="label">Target</span></label>
          <select id="rules-target" .value=${live(this.target)} @change=${this.#aim}>
            <option value="" ?selected=${this.target === ""}>Gateway</option>
            ${this.nodes.map((node) => html`<option value=${node.nodeId} ?selected=${this.target === node.nodeId}>${targetName(node)}</option>`)}
          </select>
        </div>
        ${this.#drawScope()}
      </div>
      ${this.#drawTarget()}
    `;
  }

  /** Why the file of this machine cannot be edited from here. */
  #obstacle(): "away" | "by hand" | undefined {
    if (this.target === "") return undefined;
    const node = this.nodes.find(({ nodeId }) => nodeId === this.target);
    if (node?.connected !== true) return "away";
    return isEditable(node) ? undefined : "by hand";
  }

  #drawTarget(): TemplateResult {
    const obstacle = this.#obstacle();
    if (obstacle === "away") return drawAway();
    if (obstacle === "by hand") return drawByHand();
    // Of another machine is worse than none.
    if (this.#shown.error === undefined && this.#shown.value?.target !== this.target)
      return html`<p class="quiet" role="status">Reading the approvals …</p>`;
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
    const edits = effective(shown.file, this.#mine());
    const file = applyEdits(shown.file, edits);
    return html`
      <p class="quiet">File <code>${visible(shown.path, 200)}</code></p>
      <div class="schema-form">
        <div class="pairs wide-pairs">
          ${this.#drawLevel(file, "security", "Security", "What may run at all.")}
          ${this.#drawLevel(file, "ask", "Ask", "When somebody is asked first.")}
          ${this.#drawLevel(file, "askFallback", "Ask fallback", "What holds when nobody can answer.")}
          ${this.#drawSkills(file)}
        </div>
        ${this.scope === defaults ? html`<p class="quiet">Programs are listed for agents: choose one under Scope, or all of them.</p>` : this.#drawList(file, shown)}
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
                  <span class="quiet">${count(edits.length, "change")} not saved yet.</span>`
          }
        </div>
      </div>
      <div aria-live="polite">${this.#drawSaid()}</div>
    `;
  }

  #drawLevel(file: RulesFile, key: Level, label: string, about: string): TemplateResult {
    const value = valueOf(file, this.scope, key);
    const known: readonly string[] = levels[key];
    const strange = typeof value === "string" && !known.includes(value) ? [value] : [];
    const options = [
      ...known.map((word) => ({ value: word, label: word })),
      ...strange.map((word) => ({ value: word, label: `${visible(word, 40)} (unknown, taken for the strictest)` })),
    ];
    return this.#drawSelect(file, key, { label, about, value: value === undefined ? "" : wordsFor(value), options });
  }

  #drawSkills(file: RulesFile): TemplateResult {
    const value = valueOf(file, this.scope, "autoAllowSkills");
    return this.#drawSelect(file, "autoAllowSkills", {
      label: "Auto-allow skill CLIs",
      about: "Programs that skills bring count as listed.",
      value: value === undefined ? "" : wordsFor(value),
      options: ["yes", "no"].map((word) => ({ value: word, label: word })),
    });
  }

  #drawSelect(
    file: RulesFile,
    key: RuleKey,
    {
      label,
      about,
      value,
      options,
    }: { label: string; about: string; value: string; options: { value: string; label: string }[] },
  ): TemplateResult {
    const inherited = inheritedOf(file, this.scope, key);
    return html`
      <div class="field">
        <label for=${`rules-${key}`}><span class="label">${label}</span></label>
        <span class="about" id=${`rules-${key}-about`}>${about}</span>
        <select
          id=${`rules-${key}`}
          aria-describedby=${`rules-${key}-about`}
          ?disabled=${this.isSaving}
          .value=${live(value)}
          @change=${(event: Event) => this.#set(key, (event.target as HTMLSelectElement).value)}
        >
          <option value="" ?selected=${value === ""}>
            Not set: ${visible(inherited.value, 40)}${inherited.from === "built in" ? "" : ` (from ${inherited.from})`}
          </option>
          ${options.map((option) => html`<option value=${option.value} ?selected=${option.value === value}>${option.label}</option>`)}
        </select>
      </div>
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

  #drawSaid(): TemplateResult | typeof nothing {
    if (this.error !== undefined) return drawFailure(this.error);
    if (this.said === undefined) return nothing;
    if (this.said === "saved") return html`<p class="note quiet" role="status">Saved.</p>`;
    return html`
      <div class="note warn" role="status">
        <p>Not saved: the file was changed since it was read. Every use of a program is noted in it, too.</p>
        <div class="actions">
          <button class="button small" type="button" @click=${this.#again}>Reload, keep my changes</button>
        </div>
      </div>
    `;
  }

  #mine(): readonly RuleEdit[] {
    return this.edits.get(this.target) ?? [];
  }

  #edit(edit: RuleEdit): void {
    this.said = undefined;
    this.error = undefined;
    this.edits = new Map(this.edits).set(this.target, addEdit(this.#mine(), edit));
  }

  #set(key: RuleKey, words: string): void {
    const value = key === "autoAllowSkills" ? words === "yes" : words;
    this.#edit({ kind: "set", scope: this.scope, key, value: words === "" ? undefined : value });
  }

  readonly #discard = (): void => {
    this.said = undefined;
    this.error = undefined;
    this.edits = new Map(this.edits).set(this.target, []);
  };

  readonly #again = (): void => {
    this.said = undefined;
    this.#shown.reload();
  };

  readonly #aim = (event: Event): void => {
    this.target = (event.target as HTMLSelectElement).value;
    this.said = undefined;
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
    this.said = undefined;
    const failure = await (
      target === ""
        ? client.request("exec.approvals.set", change)
        : client.request("exec.approvals.node.set", { nodeId: target, ...change })
    ).then(
      () => undefined,
      (error: unknown) => error ?? new Error("The gateway refused without a reason."),
    );
    this.isSaving = false;
    const isStale = failure instanceof HouseError && /changed since last load/.test(failure.message);
    this.said = failure === undefined ? "saved" : isStale ? "stale" : undefined;
    this.error = isStale ? undefined : failure;
    if (failure !== undefined) return;
    this.edits = new Map(this.edits).set(target, []);
    this.#shown.reload();
  }
}

function isEditable({ commands }: NodeRow): boolean {
  return ["system.execApprovals.get", "system.execApprovals.set"].every((name) => commands.includes(name));
}

function targetName(node: NodeRow): string {
  if (!node.connected) return `${nameOf(node)}, offline`;
  return isEditable(node) ? nameOf(node) : `${nameOf(node)}, by hand`;
}

function drawAway(): TemplateResult {
  return html`
    <p>This node is not connected, and its file is on that machine. To bring it back, there:</p>
    <copy-line .text=${nodeCommand(location)}></copy-line>
  `;
}

function drawByHand(): TemplateResult {
  return html`
    <div class="note quiet">
      <p>This node does not let its approvals be edited from here. On that machine, edit this file by hand:</p>
      <copy-line .text=${"~/.openclaw/exec-approvals.json"}></copy-line>
      <p>
        <code>defaults</code> and <code>agents.&lt;id&gt;</code> hold <code>security</code>, <code>ask</code>,
        <code>askFallback</code> and <code>autoAllowSkills</code>; <code>agents.&lt;id&gt;.allowlist</code> lists
        programs as <code>{"pattern": "/usr/bin/rg"}</code>. A node that offers
        <code>system.execApprovals.get</code> and <code>system.execApprovals.set</code> can be edited here.
      </p>
    </div>
  `;
}

customElements.define("exec-rules", ExecRules);
