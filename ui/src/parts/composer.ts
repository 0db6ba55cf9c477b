// The input for messages: Enter sends, Shift+Enter starts a new line, each session keeps its draft.
import { html, nothing, type TemplateResult } from "lit";

import type { App } from "../app.ts";
import { createDrafts } from "../chat/drafts.ts";
import { conversationsOf } from "../chat/conversation-store.ts";
import { Watch, type PageState } from "../state.ts";
import { drawFailure } from "./failure.ts";
import { LightElement } from "./light-element.ts";

const drafts = createDrafts(openSessionStorage());

export class ChatComposer extends LightElement {
  static override properties = {
    app: { attribute: false },
    session: {},
    text: { state: true },
    stopping: { state: true },
    failure: { state: true },
  };
  declare app: App;
  declare session: string;
  declare text: string;
  declare stopping: boolean;
  declare failure: unknown;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  #end: (() => void) | undefined;
  /** The person pressed Enter before the conversation was loaded; the message is sent right after. */
  #isSendPending = false;

  constructor() {
    super();
    this.text = "";
    this.stopping = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.text = drafts.read(this.session);
    this.#end = conversationsOf(this.app).subscribe(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#end?.();
  }

  protected override render(): TemplateResult {
    const conversations = conversationsOf(this.app);
    const isBusy = conversations.isBusy(this.session);
    const obstacle = this.#obstacle();
    return html`
      <form class="composer" @submit=${this.#submit}>
        ${this.failure === undefined ? nothing : drawFailure(this.failure)}
        <div class="composer-line">
          <textarea
            id="chat-message"
            aria-label="Message"
            aria-describedby="chat-keys"
            rows="1"
            placeholder=${isBusy ? "Type your next message; it will be queued" : "Type a message or /help"}
            .value=${this.text}
            @input=${this.#type}
            @keydown=${this.#key}
          ></textarea>
          ${
            isBusy
              ? html`<button class="button stop" type="button" ?disabled=${this.stopping} @click=${this.#stop}>
                  ${this.stopping ? "Stopping …" : "Stop"}
                </button>`
              : nothing
          }
          <button class="button primary" type="submit" ?disabled=${obstacle !== undefined || this.text.trim() === ""}>
            ${isBusy ? "Queue" : "Send"}
          </button>
        </div>
        <p class="quiet" id="chat-keys">${obstacle ?? "Press Enter to send, Shift+Enter for a new line."}</p>
      </form>
    `;
  }

  #obstacle(): string | undefined {
    if (this.#state.value.connection.phase !== "connected") return "Not connected. Your draft is saved.";
    return conversationsOf(this.app).reading(this.session).isRead ? undefined : "The conversation is still loading.";
  }

  readonly #type = (event: Event): void => {
    this.#isSendPending = false;
    this.text = (event.target as HTMLTextAreaElement).value;
    drafts.write(this.session, this.text);
  };

  /** While an input method is composing, Enter selects a word. */
  readonly #key = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#send();
  };

  readonly #submit = (event: Event): void => {
    event.preventDefault();
    this.#send();
    this.querySelector("textarea")?.focus();
  };

  protected override updated(): void {
    if (this.#isSendPending && this.#obstacle() === undefined) this.#send();
  }

  #send(): void {
    const isConnected = this.#state.value.connection.phase === "connected";
    this.#isSendPending = isConnected && this.#obstacle() !== undefined;
    if (this.text.trim() === "" || this.#obstacle() !== undefined) return;
    conversationsOf(this.app).send(this.session, this.text);
    this.text = "";
    drafts.write(this.session, "");
    this.failure = undefined;
    this.dispatchEvent(new CustomEvent("sent", { bubbles: true }));
  }

  readonly #stop = async (): Promise<void> => {
    this.stopping = true;
    this.failure = await conversationsOf(this.app)
      .stop(this.session)
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    this.stopping = false;
    this.querySelector("textarea")?.focus();
  };
}

/** Each tab has its own drafts; the browser may forbid storage. */
function openSessionStorage(): Storage | undefined {
  try {
    return window.sessionStorage;
  } catch {
    return undefined;
  }
}

customElements.define("chat-composer", ChatComposer);
