// The list of sessions, newest first, and the button for a new session.
import { html, nothing, type TemplateResult } from "lit";

import type { App } from "../app.ts";
import { conversationsOf } from "../chat/conversation-store.ts";
import { newSessionKey, titleOf, toPreview, type ShownSession } from "../chat/session-name.ts";
import { toHash } from "../route.ts";
import type { SessionList, SessionRow } from "../../../src/protocol/methods/sessions.ts";
import { formatAge } from "../format.ts";
import { badge } from "./badge.ts";
import { LightElement } from "./light-element.ts";
import { drawLoad, type Load } from "./load.ts";

export class SessionListPart extends LightElement {
  static override properties = {
    app: { attribute: false },
    list: { attribute: false },
    current: {},
    agents: { attribute: false },
    agentId: { state: true },
  };
  declare app: App;
  declare list: Load<SessionList>;
  declare current: string;
  declare agents: readonly string[];
  declare agentId: string;
  #end: (() => void) | undefined;

  constructor() {
    super();
    this.agentId = "";
    this.agents = [];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#end = conversationsOf(this.app).subscribe(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#end?.();
  }

  protected override render(): TemplateResult {
    return html`
      <div class="session-top">
        <h2>Sessions</h2>
        ${this.agents.length > 1 ? this.#drawAgents() : nothing}
        <button class="button small" type="button" @click=${this.#add}>New session</button>
      </div>
      ${drawLoad(this.list, "the sessions", ({ sessions }) => this.#drawList(sessions))}
    `;
  }

  #drawAgents(): TemplateResult {
    return html`<select
      aria-label="Agent for new sessions"
      @change=${(event: Event) => (this.agentId = (event.target as HTMLSelectElement).value)}
    >
      ${this.agents.map((id) => html`<option value=${id} ?selected=${id === this.#agent()}>${id}</option>`)}
    </select>`;
  }

  #drawList(sessions: readonly SessionRow[]): TemplateResult {
    const isListed = sessions.some(({ key }) => key === this.current);
    const rows = isListed ? sessions : [{ key: this.current, updatedAt: Date.now() }, ...sessions];
    return html`<ul class="session-list">
      ${rows.map((row) => this.#drawRow(row))}
    </ul>`;
  }

  #drawRow(row: ShownSession): TemplateResult {
    const isBusy = conversationsOf(this.app).isBusy(row.key);
    return html`
      <li>
        <a
          class="session-row"
          href=${toHash("chat", row.key)}
          aria-current=${row.key === this.current ? "true" : nothing}
          @click=${() => this.dispatchEvent(new CustomEvent("chosen", { bubbles: true }))}
        >
          <span class="session-line">
            <span class="strong session-name">${titleOf(row)}</span>
            ${isBusy ? badge("warn", "working") : html`<span class="quiet">${formatAge(row.updatedAt, Date.now())}</span>`}
          </span>
          <span class="quiet session-last">${toPreview(row.lastMessagePreview ?? "") || "No messages yet"}</span>
        </a>
      </li>
    `;
  }

  #agent(): string {
    const main = this.app.store.value.hello?.snapshot.sessionDefaults?.defaultAgentId ?? "main";
    return this.agentId === "" ? main : this.agentId;
  }

  readonly #add = (): void => {
    location.hash = toHash("chat", newSessionKey(this.#agent(), crypto.randomUUID()));
    this.dispatchEvent(new CustomEvent("chosen", { bubbles: true }));
  };
}

customElements.define("session-list", SessionListPart);
