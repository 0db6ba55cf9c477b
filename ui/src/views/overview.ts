// The Overview: health, connected clients, devices and recent tool calls.
import { html, nothing, type TemplateResult } from "lit";

import type { App } from "../app.ts";
import { badge } from "../parts/badge.ts";
import { drawCaution } from "../parts/caution.ts";
import { LightElement } from "../parts/light-element.ts";
import { Load } from "../parts/load.ts";
import { Watch, type PageState } from "../state.ts";
import type { View } from "../views.ts";
import type { HelloOk } from "../../../src/protocol/connect.ts";
import type { Caution, Health, PresenceEntry } from "../../../src/protocol/methods/system.ts";
import { formatCount, formatAge, formatDuration, formatElapsed } from "../format.ts";
import "../parts/device-list.ts";
import "../parts/journal-list.ts";

export const view: View = { draw: (app) => html`<view-overview .app=${app}></view-overview>` };

export class OverviewView extends LightElement {
  static override properties = { app: { attribute: false } };
  declare app: App;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  /** Whether a sandbox can start is known only after a probe, which has to be requested. */
  readonly #probed = new Load(this, () => this.app.client.request("health", { probe: true }));
  #clock: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#clock = setInterval(() => this.requestUpdate(), 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#clock);
  }

  protected override willUpdate(): void {
    const { epoch, connection, health } = this.#state.value;
    if (connection.phase === "connected") this.#probed.want(JSON.stringify([epoch, health?.sandbox?.mode]));
  }

  protected override render(): TemplateResult {
    const { hello, helloAtMs, health, presence, deviceId } = this.#state.value;
    const now = Date.now();
    const probed = this.#probed.value;
    const caution = health?.sandbox?.caution ?? probed?.sandbox?.caution;
    const { mcp } = (probed !== undefined && probed.ts > (health?.ts ?? 0) ? probed : health) ?? {};
    return html`
      <h1>Overview</h1>
      ${health?.trouble === undefined ? nothing : drawCaution(describeConfigProblem(health.trouble))}
      ${health?.approvals === undefined ? nothing : drawCaution(health.approvals.caution)}
      ${health?.store === undefined ? nothing : drawCaution({ text: health.store.problem, fix: "openclaw doctor" })}
      ${caution === undefined ? nothing : drawCaution(caution)} ${mcp?.cautions.map(drawCaution) ?? nothing}
      <div class="cards">
        ${health === undefined ? nothing : drawHealth(health, now)}
        ${hello === undefined ? nothing : drawGateway(hello, now - helloAtMs)} ${drawPresence(presence, deviceId, now)}
        <device-list class="card wide" .app=${this.app}></device-list>
        <journal-list class="card wide" .app=${this.app}></journal-list>
      </div>
    `;
  }
}

function drawHealth(health: Health, now: number): TemplateResult {
  const channels = health.channelOrder ?? Object.keys(health.channels ?? {});
  return html`
    <section class="card" aria-labelledby="health-title">
      <h2 id="health-title">Health ${health.ok ? badge("good", "Healthy") : badge("bad", "Unhealthy")}</h2>
      <dl class="facts">
        <dt>Checked</dt>
        <dd>
          ${formatAge(health.ts, now)}${health.durationMs === undefined ? "" : `, took ${formatElapsed(health.durationMs)}`}
        </dd>
        <dt>Agents</dt>
        <dd>${(health.agents ?? []).map(({ agentId }) => agentId).join(", ") || "none"}</dd>
        <dt>Sessions</dt>
        <dd>${health.sessions?.count ?? 0}</dd>
        <dt>Sandbox</dt>
        <dd>${describeSandbox(health)}</dd>
        <dt>Channels</dt>
        <dd>${channels.map((id) => health.channelLabels?.[id] ?? id).join(", ") || "none configured"}</dd>
      </dl>
    </section>
  `;
}

function describeConfigProblem(trouble: string): Caution {
  return {
    text: `The config file is not valid, so the gateway still uses the last valid one: ${trouble}`,
    fix: "openclaw doctor",
  };
}

function describeSandbox({ sandbox }: Health): string {
  if (sandbox === undefined) return "unknown";
  if (sandbox.mode === "off") return "off";
  return sandbox.mode === "all" ? "on for every session" : "on for every session but the main one";
}

function drawGateway(hello: HelloOk, sinceHelloMs: number): TemplateResult {
  const { server, snapshot, features } = hello;
  return html`
    <section class="card" aria-labelledby="gateway-title">
      <h2 id="gateway-title">Gateway</h2>
      <dl class="facts">
        <dt>Version</dt>
        <dd>${server.version}</dd>
        <dt>Running for</dt>
        <dd>${formatDuration(snapshot.uptimeMs + sinceHelloMs)}</dd>
        ${
          server.host === undefined
            ? nothing
            : html`<dt>Machine</dt>
                <dd>${server.host}</dd>`
        }
        ${
          snapshot.configPath === undefined
            ? nothing
            : html`<dt>Config</dt>
                <dd><code>${snapshot.configPath}</code></dd>`
        }
        <dt>Methods</dt>
        <dd>${features.methods.length}</dd>
      </dl>
    </section>
  `;
}

function drawPresence(presence: readonly PresenceEntry[], deviceId: string | undefined, now: number): TemplateResult {
  const here = presence.filter(({ reason }) => reason !== "disconnect");
  return html`
    <section class="card" aria-labelledby="presence-title">
      <h2 id="presence-title">Connected now <span class="quiet">${formatCount(here.length, "client")}</span></h2>
      <ul class="plain-list">
        ${here.map(
          (entry) =>
            html`<li>
              <span class="strong">${entry.mode ?? "client"}</span>
              ${entry.deviceId !== undefined && entry.deviceId === deviceId ? badge("quiet", "this browser") : nothing}
              <span class="quiet"
                >${[entry.host, entry.ip, entry.platform].filter((part) => part !== undefined).join(" · ")} ·
                ${formatAge(entry.ts, now)}</span
              >
            </li>`,
        )}
      </ul>
    </section>
  `;
}

customElements.define("view-overview", OverviewView);
