// The frame of the page: navigation, the open view and the connection state.
import { html, nothing, svg, type TemplateResult } from "lit";

import type { App } from "./app.ts";
import { drawFailure } from "./parts/failure.ts";
import { LightElement } from "./parts/light-element.ts";
import { parseRoute, toHash } from "./route.ts";
import { Watch, type Connection, type PageState } from "./state.ts";
import { views, type View, type ViewEntry } from "./views.ts";
import "./parts/approval-card.ts";
import "./views/pair.ts";

/** The open view loads first. */
const readAheadMs = 1000;

export class Shell extends LightElement {
  static override properties = { app: { attribute: false }, isMenuOpen: { state: true } };
  declare app: App;
  declare isMenuOpen: boolean;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  readonly #loaded = new Map<string, View | Error>();
  /** The connection over which views were last loaded. */
  #readOver = 0;

  constructor() {
    super();
    this.isMenuOpen = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener("hashchange", this.#onHashChange);
    window.addEventListener("keydown", this.#onKeyDown);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener("hashchange", this.#onHashChange);
    window.removeEventListener("keydown", this.#onKeyDown);
  }

  /** Loads all views ahead, because a view cannot be loaded while the gateway is not reachable. */
  protected override willUpdate(): void {
    const { connection, epoch } = this.#state.value;
    if (connection.phase !== "connected" || epoch === this.#readOver) return;
    this.#readOver = epoch;
    for (const [id, view] of this.#loaded) if (view instanceof Error) this.#loaded.delete(id);
    const others = views.filter(({ id }) => !this.#loaded.has(id) && id !== parseRoute(location.hash).view);
    setTimeout(() => others.forEach((entry) => void this.#load(entry)), readAheadMs);
  }

  protected override render(): TemplateResult {
    const { connection, epoch, approvals } = this.#state.value;
    const isUnpaired = connection.phase === "refused" || connection.phase === "pairing";
    if (epoch === 0 || isUnpaired) return html`<view-pair .app=${this.app}></view-pair>`;
    const { view: id, rest } = parseRoute(location.hash);
    const entry = views.find((known) => known.id === id) ?? views[0];
    if (entry === undefined) return html``;
    document.title = `${approvals.length === 0 ? "" : `(${approvals.length}) `}${entry.title} · OpenClaw`;
    return html`
      <a class="skip" href="#main" @click=${this.#skip}>Skip to content</a>
      <approval-card .app=${this.app}></approval-card>
      <div class="shell" ?data-menu=${this.isMenuOpen}>
        ${this.#drawTop()} ${this.#drawSide(entry)}
        <div class="backdrop" @click=${() => (this.isMenuOpen = false)}></div>
        <main id="main" tabindex="-1">
          ${drawBanner(connection, this.app.client.retryNow)} ${this.#drawView(entry, rest)}
        </main>
      </div>
    `;
  }

  #drawTop(): TemplateResult {
    return html`
      <header class="top">
        <button
          class="button icon"
          type="button"
          aria-label="Menu"
          aria-expanded=${this.isMenuOpen}
          aria-controls="side"
          @click=${this.#openMenu}
        >
          ${drawIcon("M4 7h16M4 12h16M4 17h16")}
        </button>
        <span class="strong">OpenClaw</span>
        ${drawPill(this.#state.value.connection)}
      </header>
    `;
  }

  #drawSide(current: ViewEntry): TemplateResult {
    const { hello, connection } = this.#state.value;
    return html`
      <nav class="side" id="side" aria-label="Views">
        <div class="brand"><img src="./favicon.svg" alt="" width="28" height="28" /><span>OpenClaw</span></div>
        <ul>
          ${views.map(
            ({ id, title, icon }) => html`
              <li>
                <a
                  href=${toHash(id)}
                  aria-current=${id === current.id ? "page" : nothing}
                  @click=${() => (this.isMenuOpen = false)}
                >
                  ${drawIcon(icon)} ${title}
                </a>
              </li>
            `,
          )}
        </ul>
        <div class="foot">
          ${drawPill(connection)}${hello === undefined ? nothing : html`<span class="quiet">version ${hello.server.version}</span>`}
        </div>
      </nav>
    `;
  }

  #drawView(entry: ViewEntry, rest: readonly string[]): unknown {
    const view = this.#loaded.get(entry.id);
    if (view instanceof Error)
      return html`${drawFailure(view)}
        <p><button class="button" type="button" @click=${() => location.reload()}>Reload the page</button></p>`;
    if (view !== undefined) return view.draw(this.app, rest);
    void this.#load(entry);
    return html`<p class="quiet" role="status">Loading ${entry.title} …</p>`;
  }

  async #load(entry: ViewEntry): Promise<void> {
    const loaded = await entry.load().then(
      ({ view }) => view,
      () => new Error("This view could not be loaded: the gateway is not reachable or was updated."),
    );
    this.#loaded.set(entry.id, loaded);
    this.requestUpdate();
  }

  /** On a wide screen, opening an item keeps the scroll position of the list; on a small screen the item starts at its top. */
  readonly #onHashChange = ({ oldURL, newURL }: HashChangeEvent): void => {
    this.isMenuOpen = false;
    this.requestUpdate();
    const [from, to] = [oldURL, newURL].map((address) => parseRoute(new URL(address).hash));
    const isNarrow = window.matchMedia("(max-width: 860px)").matches;
    if (from?.view !== to?.view || (isNarrow && to?.rest.length !== 0)) window.scrollTo(0, 0);
  };

  readonly #onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") this.isMenuOpen = false;
  };

  readonly #openMenu = async (): Promise<void> => {
    this.isMenuOpen = !this.isMenuOpen;
    await this.updateComplete;
    if (this.isMenuOpen) this.querySelector<HTMLElement>(".side a")?.focus();
  };

  /** The address fragment names the open view, so the skip link must not change it. */
  readonly #skip = (event: Event): void => {
    event.preventDefault();
    this.querySelector<HTMLElement>("main")?.focus();
  };
}

function drawBanner(connection: Connection, retry: () => void): TemplateResult | typeof nothing {
  if (connection.phase === "connected") return nothing;
  const message =
    connection.phase === "lost" ? `Disconnected: ${connection.reason}. Reconnecting automatically.` : "Reconnecting …";
  return html`
    <div class="note warn banner" role="status">
      <span>${message} The data shown may be out of date.</span>
      <button class="button small" type="button" @click=${retry}>Reconnect now</button>
    </div>
  `;
}

function drawPill({ phase }: Connection): TemplateResult {
  const isUp = phase === "connected";
  return html`<span class="pill ${isUp ? "good" : "warn"}" role="status">${isUp ? "connected" : "reconnecting"}</span>`;
}

function drawIcon(path: string): TemplateResult {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${svg`<path d=${path}></path>`}</svg>`;
}

customElements.define("openclaw-page", Shell);
