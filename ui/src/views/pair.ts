// The page before pairing: how to connect this browser, and why a connection was rejected.
import { html, nothing, type TemplateResult } from "lit";

import type { WireError } from "../../../src/protocol/frame.ts";
import { readRefusal } from "../../../src/protocol/refusal.ts";
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
        ${refusedToken ? html`<p class="note warn">The link contained a token or a gateway address. It was ignored, because links end up in browser histories and logs.</p>` : nothing}
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
          <p class="quiet" role="status">Connecting to the gateway at ${location.host} …</p>`;
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
      <h1>Cannot reach the gateway</h1>
      <p role="status">Reason: ${reason}. Retrying automatically.</p>
      <p>If the gateway is not running, start it on its machine:</p>
      <copy-line .text=${"openclaw gateway run"}></copy-line>
      <div class="actions">
        <button class="button" type="button" @click=${this.app.client.retryNow}>Reconnect now</button>
      </div>
    `;
  }

  #drawWaiting(requestId: string): TemplateResult {
    return html`
      <h1>Waiting for approval</h1>
      <p role="status">This browser sent a pairing request. Approve it on the gateway's machine:</p>
      <copy-line .text=${`openclaw devices approve ${requestId}`}></copy-line>
      <dl class="facts">
        <dt>Request</dt>
        <dd><code>${requestId}</code></dd>
      </dl>
      <p class="quiet">
        You can also approve it under Overview in a browser that is already connected. This page then continues
        automatically.
      </p>
    `;
  }

  #drawAsk({ failure, used }: Extract<Connection, { phase: "refused" }>): TemplateResult {
    const refusal = readRefusal(failure);
    const isPassword = "secret" in refusal && refusal.secret === "password";
    const what = isPassword ? "password" : "token";
    return html`
      <h1>Connect this browser</h1>
      ${used === "none" ? nothing : html`<p class="note bad" role="alert">${describeRefusal(used, failure)}</p>`}
      ${used === "none" && refusal.kind !== "secret-missing" ? html`<p class="note bad" role="alert">The gateway answered: ${failure.message}</p>` : nothing}
      <section>
        <h2>With a link</h2>
        <p>Run this on the gateway's machine and open the link it prints. Each link works once.</p>
        <copy-line .text=${"openclaw dashboard"}></copy-line>
      </section>
      <section>
        <h2>With the gateway ${what}</h2>
        <form @submit=${(event: Event) => this.#connect(event, isPassword)}>
          <div class="field">
            <label for="secret"><span class="label">Gateway ${what}</span></label>
            <span class="about" id="about-secret"
              >${isPassword ? html`The password is not stored.` : html`Find it in the config under <code>gateway.auth.token</code>. Paste it only here, never into an address.`}</span
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

function describeRefusal(used: string, failure: WireError<string>): string {
  const { kind } = readRefusal(failure);
  if (kind !== "secret-mismatch" && kind !== "secret-missing") return `The gateway answered: ${failure.message}`;
  if (used === "link") return "This link was already used or has expired. Create a new one.";
  if (used === "device") return "This browser is no longer paired. Connect it again.";
  return `The gateway rejected this ${used}.`;
}

customElements.define("view-pair", PairView);
