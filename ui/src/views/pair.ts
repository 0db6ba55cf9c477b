// The door: how this browser gets in, and what stands in the way if it does not.
import { html, nothing, type TemplateResult } from "lit";

import type { App } from "../app.ts";
import { LightElement } from "../parts/light-element.ts";
import { Watch, type Connection, type PageState } from "../state.ts";
import "../parts/copy-line.ts";

export class PairView extends LightElement {
  static override properties = { app: { attribute: false }, secret: { state: true } };
  declare app: App;
  declare secret: string;
  readonly #state = new Watch<PageState>(this, () => this.app.store);

  constructor() {
    super();
    this.secret = "";
  }

  protected override render(): TemplateResult {
    const { connection, refusedToken, keyProblem } = this.#state.value;
    document.title = "Connect · OpenClaw";
    return html`
      <main class="connect">
        <div class="brand"><img src="./favicon.svg" alt="" width="36" height="36" /><span>OpenClaw</span></div>
        ${refusedToken ? html`<p class="note warn">The link held a token or a gateway address. It was thrown away: links end up in histories and logs.</p>` : nothing}
        ${keyProblem === undefined ? nothing : html`<p class="note warn">${keyProblem}</p>`}
        ${this.#drawPhase(connection)}
      </main>
    `;
  }

  #drawPhase(connection: Connection): TemplateResult {
    switch (connection.phase) {
      case "connecting":
      case "connected":
        return html`<h1>Connecting</h1>
          <p class="quiet" role="status">Talking to the gateway at ${location.host} …</p>`;
      case "lost":
        return this.#drawLost(connection.reason);
      case "pairing":
        return this.#drawWaiting(connection.requestId);
      case "refused":
        return this.#drawAsk(connection);
    }
  }

  #drawLost(reason: string): TemplateResult {
    return html`
      <h1>No connection yet</h1>
      <p role="status">Reason: ${reason}. The page tries again by itself.</p>
      <p>If the gateway is not running, start it on its machine:</p>
      <copy-line .text=${"openclaw gateway run"}></copy-line>
      <div class="actions">
        <button class="button" type="button" @click=${this.app.client.retryNow}>Try now</button>
      </div>
    `;
  }

  #drawWaiting(requestId: string): TemplateResult {
    return html`
      <h1>Waiting for approval</h1>
      <p role="status">This browser asked to be let in. Approve it on the machine of the gateway:</p>
      <copy-line .text=${`openclaw devices approve ${requestId}`}></copy-line>
      <dl class="facts">
        <dt>Request</dt>
        <dd><code>${requestId}</code></dd>
      </dl>
      <p class="quiet">
        Somebody who is already connected can also approve it on their Overview. This page goes on by itself.
      </p>
    `;
  }

  #drawAsk({ failure, used }: Extract<Connection, { phase: "refused" }>): TemplateResult {
    const isPassword = /password/i.test(failure.message);
    const what = isPassword ? "password" : "token";
    return html`
      <h1>Connect this browser</h1>
      ${used === "none" ? nothing : html`<p class="note bad" role="alert">${describeRefusal(used, failure.message)}</p>`}
      ${used === "none" && !/missing/i.test(failure.message) ? html`<p class="note bad" role="alert">The gateway said: ${failure.message}</p>` : nothing}
      <section>
        <h2>With a link</h2>
        <p>Run this on the machine of the gateway and open the link it prints. Each link works once.</p>
        <copy-line .text=${"openclaw dashboard"}></copy-line>
      </section>
      <section>
        <h2>With the gateway ${what}</h2>
        <form @submit=${(event: Event) => this.#connect(event, isPassword)}>
          <div class="field">
            <label for="secret"><span class="label">Gateway ${what}</span></label>
            <span class="about" id="about-secret"
              >${isPassword ? html`It is not kept.` : html`It stands in the config as <code>gateway.auth.token</code>. Paste it here only, never into an address.`}</span
            >
            <input
              id="secret"
              type="password"
              autocomplete="off"
              aria-describedby="about-secret"
              .value=${this.secret}
              @input=${this.#type}
            />
          </div>
          <div class="actions">
            <button class="button primary" type="submit" ?disabled=${this.secret.trim() === ""}>Connect</button>
          </div>
        </form>
      </section>
    `;
  }

  readonly #type = (event: Event): void => {
    this.secret = (event.target as HTMLInputElement).value;
  };

  #connect(event: Event, isPassword: boolean): void {
    event.preventDefault();
    const secret = this.secret.trim();
    if (secret === "") return;
    this.secret = "";
    this.app.client.present(isPassword ? { password: secret } : { token: secret });
  }
}

function describeRefusal(used: string, message: string): string {
  if (!/mismatch|unauthori[sz]ed/i.test(message)) return `The gateway said: ${message}`;
  if (used === "link") return "This link was used before or has run out. Make a new one.";
  if (used === "device") return "The gateway no longer knows this browser. Connect it again.";
  return `The gateway did not accept this ${used}.`;
}

customElements.define("view-pair", PairView);
