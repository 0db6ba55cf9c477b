// The Nodes view: paired nodes, pairing requests, the node that runs commands, and the approvals files.
import { html, type TemplateResult } from "lit";

import type { App } from "../app.ts";
import { LightElement } from "../parts/light-element.ts";
import { Load } from "../parts/load.ts";
import { Watch, type PageState } from "../state.ts";
import type { View } from "../views.ts";
import "../parts/device-list.ts";
import "../parts/exec-binding.ts";
import "../parts/exec-rules.ts";
import "../parts/node-list.ts";

export const view: View = { draw: (app) => html`<view-nodes .app=${app}></view-nodes>` };

export class NodesView extends LightElement {
  static override properties = { app: { attribute: false } };
  declare app: App;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  readonly #nodes = new Load(this, () => this.app.client.request("node.list", {}));
  readonly #agents = new Load(this, () => this.app.client.request("agents.list", {}));
  readonly #unsubscribers: (() => void)[] = [];

  override connectedCallback(): void {
    super.connectedCallback();
    const { client } = this.app;
    for (const event of ["presence", "device.pair.resolved", "page.gap"])
      this.#unsubscribers.push(client.on(event, this.#nodes.reload));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const unsubscribe of this.#unsubscribers.splice(0)) unsubscribe();
  }

  protected override willUpdate(): void {
    const { epoch } = this.#state.value;
    this.#nodes.want(String(epoch));
    this.#agents.want(String(epoch));
  }

  protected override render(): TemplateResult {
    const nodes = this.#nodes.value?.nodes ?? [];
    const agents = (this.#agents.value?.agents ?? []).map(({ id }) => id);
    return html`
      <h1>Nodes</h1>
      <div class="cards">
        <node-list
          class="card wide"
          role="region"
          aria-label="Paired nodes"
          .app=${this.app}
          .list=${this.#nodes}
          .nodes=${nodes}
        ></node-list>
        <device-list class="card wide" role="region" aria-label="Devices" .app=${this.app}></device-list>
        <exec-binding
          class="card wide"
          role="region"
          aria-label="Exec node binding"
          .app=${this.app}
          .nodes=${nodes}
        ></exec-binding>
        <exec-rules
          class="card wide"
          role="region"
          aria-label="Exec approvals"
          .app=${this.app}
          .nodes=${nodes}
          .agents=${agents}
        ></exec-rules>
      </div>
    `;
  }
}

customElements.define("view-nodes", NodesView);
