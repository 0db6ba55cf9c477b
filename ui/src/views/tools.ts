// The Tools view: all tools with their status, and one open tool with its policy decision and a form to run it.
import { html, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";

import type { App } from "../app.ts";
import { drawToolStatus } from "../parts/decision.ts";
import { LightElement } from "../parts/light-element.ts";
import { drawLoad, Load } from "../parts/load.ts";
import { toHash } from "../route.ts";
import { Watch, type PageState } from "../state.ts";
import { filterTools, groupTools, toolStatus, toolStatuses, type ToolStatus } from "../tool-list.ts";
import type { View } from "../views.ts";
import type { CatalogRow, ToolCatalog } from "../../../src/protocol/methods/tools.ts";
import { formatCount } from "../format.ts";
import "../parts/tool-panel.ts";

export const view: View = { draw: (app, [name]) => html`<view-tools .app=${app} .open=${name}></view-tools>` };

export class ToolsView extends LightElement {
  static override properties = {
    app: { attribute: false },
    open: {},
    agentId: { state: true },
    model: { state: true },
    query: { state: true },
    status: { state: true },
  };
  declare app: App;
  /** Name of the opened tool. */
  declare open: string | undefined;
  declare agentId: string;
  declare model: string;
  declare query: string;
  declare status: ToolStatus | "all";
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  readonly #catalog = new Load(this, () => this.app.client.request("tools.catalog", this.#subject()));
  readonly #models = new Load(this, () => this.app.client.request("models.list", {}));

  constructor() {
    super();
    this.agentId = "";
    this.model = "";
    this.query = "";
    this.status = "all";
  }

  protected override willUpdate(): void {
    const { epoch } = this.#state.value;
    this.#catalog.want(JSON.stringify([epoch, this.agentId, this.model]));
    this.#models.want(String(epoch));
  }

  protected override render(): TemplateResult {
    return html`
      <div class="split" ?data-open=${this.open !== undefined}>
        <section class="list-side">
          <h1>Tools</h1>
          ${this.#drawSubject()} ${drawLoad(this.#catalog, "the tools", (catalog) => this.#drawList(catalog))}
        </section>
        <section class="detail-side" aria-label="Opened tool">
          ${this.#catalog.value === undefined ? nothing : this.#drawDetail(this.#catalog.value)}
        </section>
      </div>
    `;
  }

  #drawSubject(): TemplateResult {
    const catalog = this.#catalog.value;
    const agents = catalog?.agents ?? [];
    const models = this.#models.value?.models ?? [];
    return html`
      <div class="who">
        <div class="field">
          <label for="agent"><span class="label">Agent</span></label>
          <select id="agent" @change=${(event: Event) => (this.agentId = valueOf(event))}>
            ${agents.map((id) => html`<option value=${id} ?selected=${id === (this.agentId || catalog?.agentId)}>${id}</option>`)}
          </select>
        </div>
        <div class="field">
          <label for="model"><span class="label">Model</span></label>
          <input
            id="model"
            list="models"
            placeholder="any"
            autocomplete="off"
            spellcheck="false"
            .value=${this.model}
            @change=${(event: Event) => (this.model = valueOf(event).trim())}
          />
          <datalist id="models">
            ${models.map(({ id, provider }) => html`<option value=${provider === undefined ? id : `${provider}/${id}`}></option>`)}
          </datalist>
        </div>
      </div>
    `;
  }

  #drawList({ tools }: ToolCatalog): TemplateResult {
    const found = filterTools(tools, this.query, this.status);
    return html`
      <div class="filter">
        <input
          type="search"
          aria-label="Filter tools"
          placeholder="Filter by name or description"
          .value=${this.query}
          @input=${(event: Event) => (this.query = valueOf(event))}
        />
        <div class="chips" role="group" aria-label="Show">
          ${(["all", ...toolStatuses] as const).map((entry) => this.#drawChip(entry, tools))}
        </div>
      </div>
      ${found.length === 0 ? html`<p class="quiet">No tool matches this filter.</p>` : nothing}
      ${groupTools(found).map(
        ({ group, tools: members }) => html`
          <h2 class="group-name">${group} <span class="quiet">${formatCount(members.length, "tool")}</span></h2>
          <ul class="tool-list">
            ${members.map((tool) => this.#drawTool(tool))}
          </ul>
        `,
      )}
    `;
  }

  #drawChip(entry: ToolStatus | "all", tools: readonly CatalogRow[]): TemplateResult {
    const amount = entry === "all" ? tools.length : tools.filter((tool) => toolStatus(tool) === entry).length;
    return html`<button
      class="chip"
      type="button"
      aria-pressed=${this.status === entry}
      @click=${() => (this.status = entry)}
    >
      ${entry} <span class="quiet">${amount}</span>
    </button>`;
  }

  #drawTool(tool: CatalogRow): TemplateResult {
    return html`
      <li>
        <a
          class="tool-row"
          href=${toHash("tools", tool.name)}
          aria-current=${tool.name === this.open ? "true" : nothing}
        >
          <span class="tool-line"><code class="strong">${tool.name}</code> ${drawToolStatus(tool)}</span>
          <span class="quiet"
            >${tool.summary === "" ? (tool.decision.decidedBy?.reason ?? tool.unavailable?.reason ?? "") : tool.summary}</span
          >
        </a>
      </li>
    `;
  }

  #drawDetail(catalog: ToolCatalog): TemplateResult {
    if (this.open === undefined)
      return html`<p class="quiet placeholder">Select a tool to see why it is allowed or blocked, and to run it.</p>`;
    const tool = catalog.tools.find(({ name }) => name === this.open);
    const back = html`<a class="back" href=${toHash("tools")}>← All tools</a>`;
    if (tool === undefined)
      return html`${back}
        <p class="note bad" role="alert">Unknown tool: ${this.open}</p>`;
    return html`${back}${keyed(tool.name, html`<tool-panel .app=${this.app} .tool=${tool} .who=${this.#subject()} .session=${catalog.sessionKey}></tool-panel>`)}`;
  }

  #subject(): { agentId?: string; model?: string } {
    return {
      ...(this.agentId === "" ? {} : { agentId: this.agentId }),
      ...(this.model === "" ? {} : { model: this.model }),
    };
  }
}

const valueOf = (event: Event): string => (event.target as HTMLInputElement).value;

customElements.define("view-tools", ToolsView);
