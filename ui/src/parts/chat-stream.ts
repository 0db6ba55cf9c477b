// The messages of a session; follows the newest, loads older ones on request.
import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";

import type { App } from "../app.ts";
import { mostMessages, conversationsOf } from "../chat/conversation-store.ts";
import { createRows } from "../chat/rows.ts";
import "./chat-row.ts";
import { drawFailure } from "./failure.ts";
import { LightElement } from "./light-element.ts";

/** Distance from the end that still counts as the end. */
const nearPx = 60;

export class ChatStream extends LightElement {
  static override properties = { app: { attribute: false }, session: {}, empty: { attribute: false } };
  declare app: App;
  declare session: string;
  /** Drawn while there are no messages. */
  declare empty: TemplateResult | undefined;
  readonly #rowsOf = createRows();
  #end: (() => void) | undefined;
  #isAtEnd = true;
  /** Scroll height before older messages were added above. */
  #heightBefore: number | undefined;
  /** The visible area changes when a phone is rotated or the composer grows. */
  readonly #resizes = new ResizeObserver(() => this.#isAtEnd && this.#toEnd());

  override connectedCallback(): void {
    super.connectedCallback();
    this.#end = conversationsOf(this.app).subscribe(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resizes.disconnect();
    this.#end?.();
  }

  protected override render(): TemplateResult {
    const conversations = conversationsOf(this.app);
    const reading = conversations.reading(this.session);
    const rows = this.#rowsOf(conversations.conversation(this.session));
    const isQuiet = reading.isRead && rows.length === 0;
    return html`
      <div class="stream" @scroll=${this.#scroll} tabindex="0" aria-label="Conversation" role="region">
        <div class="stream-inner">
          ${reading.hasEarlier ? this.#drawEarlier(reading.limit, reading.isLoading) : nothing}
          ${!reading.isRead && reading.error === undefined ? html`<p class="quiet" role="status">Loading the conversation …</p>` : nothing}
          ${
            reading.error === undefined
              ? nothing
              : html`${drawFailure(reading.error)}
                  <button class="button" type="button" @click=${() => conversations.reread(this.session)}>
                    Try again
                  </button>`
          }
          ${isQuiet ? (this.empty ?? nothing) : nothing}
          <div class="rows-of-chat" role="log" aria-busy=${reading.isLoading && !conversations.isBusy(this.session)}>
            ${repeat(
              rows,
              ({ key }) => key,
              (row) => html`<chat-row .app=${this.app} .row=${row} .session=${this.session}></chat-row>`,
            )}
          </div>
          ${this.#drawWorking(rows.at(-1)?.kind)}
        </div>
      </div>
      ${this.#isAtEnd ? nothing : html`<button class="button small to-end" type="button" @click=${() => this.follow()}>Jump to latest ↓</button>`}
    `;
  }

  #drawEarlier(limit: number, isLoading: boolean): TemplateResult {
    if (limit >= mostMessages)
      return html`<p class="quiet earlier">
        Only the last ${mostMessages.toLocaleString("en-US")} messages are shown. To get all of them:
        <code>openclaw sessions export</code>
      </p>`;
    return html`<p class="earlier">
      <button class="button small" type="button" ?disabled=${isLoading} @click=${this.#earlier}>
        Show earlier messages
      </button>
    </p>`;
  }

  #drawWorking(last: string | undefined): TemplateResult | typeof nothing {
    const conversations = conversationsOf(this.app);
    if (!conversations.isBusy(this.session) || last === "reply") return nothing;
    return html`<p class="working quiet" role="status"><span class="dots" aria-hidden="true"></span> Working …</p>`;
  }

  protected override firstUpdated(): void {
    if (this.#scroller !== null) this.#resizes.observe(this.#scroller);
  }

  protected override updated(): void {
    const scroller = this.#scroller;
    if (scroller === null) return;
    if (this.#heightBefore !== undefined && !conversationsOf(this.app).reading(this.session).isLoading) {
      const before = this.#heightBefore;
      this.#heightBefore = undefined;
      void this.#settle().then(() => (scroller.scrollTop += scroller.scrollHeight - before));
      return;
    }
    if (this.#isAtEnd) void this.#settle().then(() => this.#toEnd());
  }

  /** Rows render after the list that contains them. */
  async #settle(): Promise<void> {
    await Promise.all([...this.querySelectorAll("chat-row")].map((row) => (row as LightElement).updateComplete));
    await Promise.all([...this.querySelectorAll("tool-card")].map((card) => (card as LightElement).updateComplete));
  }

  #toEnd(): void {
    const scroller = this.#scroller;
    if (scroller !== null) scroller.scrollTop = scroller.scrollHeight;
  }

  get #scroller(): HTMLElement | null {
    return this.querySelector<HTMLElement>(".stream");
  }

  readonly #scroll = (): void => {
    const scroller = this.#scroller;
    if (scroller === null || this.#heightBefore !== undefined) return;
    const isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < nearPx;
    if (isAtEnd === this.#isAtEnd) return;
    this.#isAtEnd = isAtEnd;
    this.requestUpdate();
  };

  readonly #earlier = (): void => {
    this.#heightBefore = this.#scroller?.scrollHeight;
    this.#isAtEnd = false;
    conversationsOf(this.app).earlier(this.session);
  };

  /** Scrolls to the newest message and follows it. */
  follow(): void {
    this.#isAtEnd = true;
    this.requestUpdate();
  }
}

customElements.define("chat-stream", ChatStream);

declare global {
  interface HTMLElementTagNameMap {
    "chat-stream": ChatStream;
  }
}
