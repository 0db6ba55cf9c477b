// Pairing requests with approve and reject, and the paired devices.
import { html, nothing, type TemplateResult } from "lit";

import { visible } from "../../../src/core/visible.ts";
import type { App } from "../app.ts";
import { Watch, type PageState } from "../state.ts";
import type { PairedDevice, PendingDevice } from "../../../src/protocol/methods/devices.ts";
import { formatCount, formatAge } from "../format.ts";
import { badge } from "./badge.ts";
import { drawFailure } from "./failure.ts";
import { LightElement } from "./light-element.ts";
import { drawLoad, Load } from "./load.ts";

const shownDevices = 5;

export class DeviceList extends LightElement {
  static override properties = { app: { attribute: false }, error: { state: true }, answering: { state: true } };
  declare app: App;
  declare error: unknown;
  /** Id of the pairing request that is being answered. */
  declare answering: string | undefined;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  readonly #devices = new Load(this, () => this.app.client.request("device.pair.list", {}));
  readonly #unsubscribers: (() => void)[] = [];

  override connectedCallback(): void {
    super.connectedCallback();
    const { client } = this.app;
    this.#unsubscribers.push(
      client.on("device.pair.requested", this.#devices.reload),
      client.on("device.pair.resolved", this.#devices.reload),
    );
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const unsubscribe of this.#unsubscribers.splice(0)) unsubscribe();
  }

  protected override willUpdate(): void {
    this.#devices.want(String(this.#state.value.epoch));
  }

  protected override render(): TemplateResult {
    return html`
      <h2>Devices</h2>
      ${this.error === undefined ? nothing : drawFailure(this.error)}
      ${drawLoad(
        this.#devices,
        "the devices",
        ({ pending, paired }) => html`
          ${
            pending.length === 0
              ? html`<p class="quiet">No pairing requests.</p>`
              : html`<ul class="rows">
                  ${pending.map((entry) => this.#drawPending(entry))}
                </ul>`
          }
          ${this.#drawAllPaired(paired)}
        `,
      )}
    `;
  }

  /** This browser first, then the newest; a long list is collapsed. */
  #drawAllPaired(paired: readonly PairedDevice[]): TemplateResult {
    const { deviceId } = this.#state.value;
    const rank = (entry: PairedDevice): number => (entry.deviceId === deviceId ? Infinity : (entry.approvedAtMs ?? 0));
    const sorted = paired.toSorted((one, other) => rank(other) - rank(one));
    const draw = (entries: readonly PairedDevice[]): TemplateResult =>
      html`<ul class="rows">
        ${entries.map((entry) => this.#drawPaired(entry))}
      </ul>`;
    const rest = sorted.slice(shownDevices);
    if (rest.length === 0) return draw(sorted);
    return html`
      ${draw(sorted.slice(0, shownDevices))}
      <details class="more">
        <summary>${formatCount(rest.length, "more device")}</summary>
        ${draw(rest)}
      </details>
    `;
  }

  #drawPending(entry: PendingDevice): TemplateResult {
    const busy = this.answering === entry.requestId;
    const answer = (method: "device.pair.approve" | "device.pair.reject") => () =>
      this.#answer(method, entry.requestId);
    return html`
      <li class="row waiting">
        <div>
          <span class="strong">${nameOf(entry)}</span>
          ${badge("warn", entry.isRepair === true ? "requests more access" : "pending")}
          <span class="quiet">${visible(entry.platform ?? "", 60)} · ${formatAge(entry.ts, Date.now())}</span>
          <div class="quiet">
            ${describeRequest(entry)} · device
            <code>${entry.deviceId.slice(0, 12)}</code>
          </div>
        </div>
        <div class="actions">
          <button class="button primary small" type="button" ?disabled=${busy} @click=${answer("device.pair.approve")}>
            Approve
          </button>
          <button class="button small" type="button" ?disabled=${busy} @click=${answer("device.pair.reject")}>
            Reject
          </button>
        </div>
      </li>
    `;
  }

  #drawPaired(entry: PairedDevice): TemplateResult {
    const lastUsed = Math.max(0, ...(entry.tokens ?? []).map((token) => token.lastUsedAtMs ?? 0));
    const isRevoked =
      (entry.tokens ?? []).length > 0 && (entry.tokens ?? []).every((token) => token.revokedAtMs !== undefined);
    return html`
      <li class="row">
        <div>
          <span class="strong">${nameOf(entry)}</span>
          ${entry.deviceId === this.#state.value.deviceId ? badge("quiet", "this browser") : nothing}
          ${isRevoked ? badge("bad", "revoked") : nothing}
          <span class="quiet">
            ${[(entry.roles ?? [entry.role ?? ""]).join(", "), entry.platform === undefined ? undefined : visible(entry.platform, 60), `device ${entry.deviceId.slice(0, 12)}`].filter((part) => part !== undefined && part !== "").join(" · ")}
            ${lastUsed > 0 ? `· used ${formatAge(lastUsed, Date.now())}` : ""}
          </span>
        </div>
      </li>
    `;
  }

  async #answer(method: "device.pair.approve" | "device.pair.reject", requestId: string): Promise<void> {
    this.answering = requestId;
    this.error = await this.app.client.request(method, { requestId }).then(
      () => undefined,
      (error: unknown) => error,
    );
    this.answering = undefined;
    this.#devices.reload();
  }
}

/** A device chooses its own name, so characters that hide or reverse text are made visible. */
function nameOf({ displayName, clientId, clientMode }: PendingDevice | PairedDevice): string {
  if (displayName !== undefined) return visible(displayName, 60);
  return clientId === "openclaw-control-ui" ? "Browser" : visible(clientId ?? clientMode ?? "device", 60);
}

/** A paired node that offers more requests only the difference. */
function describeRequest({ role, scopes, added }: PendingDevice): string {
  if (added === undefined)
    return `requests role ${visible(role, 60)} with ${visible(scopes.join(", ")) || "no scopes"}`;
  const { caps, commands, permissions = {} } = added;
  return `already paired, now also offers ${visible([...caps, ...commands, ...Object.keys(permissions)].join(", "), 600)}`;
}

customElements.define("device-list", DeviceList);
