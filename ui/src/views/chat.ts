// The Chat view: the list of sessions, the open conversation and the composer.
import { html, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";

import type { ShownSession } from "../chat/session-name.ts";
import type { App } from "../app.ts";
import { conversationsOf, type ConversationStore } from "../chat/conversation-store.ts";
import { LightElement } from "../parts/light-element.ts";
import { Load } from "../parts/load.ts";
import { Watch, type PageState } from "../state.ts";
import type { View } from "../views.ts";
import "../parts/chat-stream.ts";
import "../parts/composer.ts";
import "../parts/first-model.ts";
import "../parts/session-bar.ts";
import "../parts/session-list.ts";

export const view: View = { draw: (app, [key]) => html`<view-chat .app=${app} .open=${key}></view-chat>` };

const listed = { limit: 50, includeLastMessage: true, includeDerivedTitles: true } as const;

export class ChatView extends LightElement {
  static override properties = {
    app: { attribute: false },
    open: {},
    isListOpen: { state: true },
    isChosen: { state: true },
  };
  declare app: App;
  /** Key of the open session; the main session when undefined. */
  declare open: string | undefined;
  declare isListOpen: boolean;
  /** A model was selected on this page. */
  declare isChosen: boolean;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  readonly #sessions = new Load(this, () => this.app.client.request("sessions.list", listed));
  readonly #models = new Load(this, () => this.app.client.request("models.list", {}));
  #end: (() => void) | undefined;
  #settledCount = 0;

  constructor() {
    super();
    this.isListOpen = false;
    this.isChosen = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const conversations = conversationsOf(this.app);
    this.#settledCount = conversations.settledCount;
    this.#end = conversations.subscribe(() => this.#onChange(conversations));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#end?.();
  }

  protected override willUpdate(): void {
    const { epoch } = this.#state.value;
    this.#sessions.want(String(epoch));
    this.#models.want(String(epoch));
    conversationsOf(this.app).open(this.#key());
  }

  protected override render(): TemplateResult {
    const key = this.#key();
    const row = this.#sessions.value?.sessions.find((entry) => entry.key === key) ?? newRow(key);
    return html`
      <div
        class="chat"
        ?data-list=${this.isListOpen}
        @sessions=${() => (this.isListOpen = !this.isListOpen)}
        @chosen=${this.#close}
        @changed=${this.#sessions.reload}
        @model=${this.#chosen}
      >
        <session-list
          class="chat-side"
          .app=${this.app}
          .list=${this.#sessions}
          .current=${key}
          .agents=${(this.#state.value.health?.agents ?? []).map(({ agentId }) => agentId)}
        ></session-list>
        <section class="chat-main" aria-label="Open session">${keyed(key, this.#drawOpen(row))}</section>
      </div>
    `;
  }

  #drawOpen(row: ShownSession): TemplateResult {
    const conversations = conversationsOf(this.app);
    const models = (this.#models.value?.models ?? []).filter(({ ready }) => ready !== false);
    const isKnown = this.#models.value !== undefined;
    const hasNone = isKnown && models.length === 0;
    const hasUsual = this.isChosen || typeof this.#sessions.value?.defaults?.model === "string";
    const isUnchosen = hasNone || (isKnown && !hasUsual && models.every(({ source }) => source === "found"));
    const isTalking =
      conversations.conversation(row.key).messages.length + conversations.conversation(row.key).runs.length > 0;
    return html`
      <session-bar
        .app=${this.app}
        .row=${row}
        .models=${models}
        .defaults=${this.#sessions.value?.defaults}
        .thinking=${conversations.reading(row.key).thinkingLevel}
        ?listing=${this.isListOpen}
      ></session-bar>
      <chat-stream
        .app=${this.app}
        .session=${row.key}
        .empty=${isUnchosen ? this.#drawFirstModel(!hasNone) : drawWelcome()}
      ></chat-stream>
      ${hasNone && isTalking ? this.#drawNoModel() : nothing}
      <chat-composer .app=${this.app} .session=${row.key} @sent=${this.#follow}></chat-composer>
    `;
  }

  #drawFirstModel(isAnswering = false): TemplateResult {
    return html`<first-model .app=${this.app} ?answering=${isAnswering}></first-model>`;
  }

  #drawNoModel(): TemplateResult {
    return html`<details class="no-model">
      <summary>No model configured: commands and tools work</summary>
      ${this.#drawFirstModel()}
    </details>`;
  }

  #onChange(conversations: ConversationStore): void {
    this.requestUpdate();
    if (conversations.settledCount === this.#settledCount) return;
    this.#settledCount = conversations.settledCount;
    this.#sessions.reload();
  }

  /** Focuses the composer, except on a phone, where that would open the keyboard. */
  readonly #close = (): void => {
    this.isListOpen = false;
    if (window.matchMedia("(max-width: 860px)").matches) return;
    setTimeout(() => this.querySelector<HTMLElement>("#chat-message")?.focus());
  };

  readonly #chosen = (): void => {
    this.isChosen = true;
    this.#models.reload();
    this.#sessions.reload();
  };

  /** After sending, the conversation scrolls with the reply. */
  readonly #follow = (): void => {
    this.querySelector("chat-stream")?.follow();
  };

  #key(): string {
    return this.open ?? this.#state.value.hello?.snapshot.sessionDefaults?.mainSessionKey ?? "agent:main:main";
  }
}

function newRow(key: string): ShownSession {
  return { key, updatedAt: Date.now() };
}

function drawWelcome(): TemplateResult {
  return html`
    <div class="welcome">
      <h2>No messages yet</h2>
      <p class="quiet">
        Ask the agent for something. <code>/help</code> lists the commands, and
        <code>/tool session_status {}</code> runs a tool without the model.
      </p>
    </div>
  `;
}

customElements.define("view-chat", ChatView);
