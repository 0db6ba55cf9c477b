// The paired nodes with their commands and permissions, or the command that pairs one.
import { html, nothing, type TemplateResult } from "lit";

import { visible } from "../../../src/core/visible.ts";
import type { App } from "../app.ts";
import type { NodeRow } from "../../../src/protocol/methods/nodes.ts";
import { formatCount, formatAge } from "../format.ts";
import { badge } from "./badge.ts";
import "./copy-line.ts";
import { LightElement } from "./light-element.ts";
import { drawLoad, type Load } from "./load.ts";

export class NodeList extends LightElement {
  static override properties = { app: { attribute: false }, list: { attribute: false }, nodes: { attribute: false } };
  declare app: App;
  declare list: Load<{ readonly nodes: readonly NodeRow[] }>;
  /** The nodes of the list; a new array after each read. */
  declare nodes: readonly NodeRow[];

  protected override render(): TemplateResult {
    return html`
      <h2 id="node-list-title">Paired nodes</h2>
      ${drawLoad(this.list, "the nodes", ({ nodes }) =>
        nodes.length === 0
          ? drawNone()
          : html`<ul class="rows" aria-labelledby="node-list-title">
              ${nodes.toSorted((one, other) => Number(other.connected) - Number(one.connected)).map(drawNode)}
            </ul>`,
      )}
    `;
  }
}

/** The command that connects another machine to the gateway of this page. */
export function nodeCommand({ hostname, port, protocol }: Pick<Location, "hostname" | "port" | "protocol">): string {
  const isTls = protocol === "https:";
  const host = hostname.replace(/^\[|\]$/g, "");
  return `openclaw node run --host ${host} --port ${port === "" ? (isTls ? "443" : "80") : port}${isTls ? " --tls" : ""}`;
}

function drawNone(): TemplateResult {
  return html`
    <p>No node is paired yet. On the machine that should run commands, run:</p>
    <copy-line .text=${nodeCommand(location)}></copy-line>
    ${isLoopback(location) ? drawTunnel(location.port) : nothing}
    <p class="quiet">Then approve its pairing request below, under Devices.</p>
  `;
}

/** Other machines cannot reach a loopback address: with an SSH tunnel the same command works there. */
function isLoopback({ hostname }: Pick<Location, "hostname">): boolean {
  return /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/.test(hostname);
}

function drawTunnel(port: string): TemplateResult {
  return html`
    <p class="quiet">
      On another machine than the gateway's, open an SSH tunnel first and keep it open:
      <code>ssh -N -L ${port}:127.0.0.1:${port} <i>user@gateway</i></code>
    </p>
  `;
}

function drawNode(node: NodeRow): TemplateResult {
  const { connected, commands, caps, permissions = {} } = node;
  const facts = [
    node.platform,
    node.modelIdentifier ?? node.deviceFamily,
    node.version === undefined ? undefined : `version ${node.version}`,
    node.remoteIp,
    node.connectedAtMs === undefined ? undefined : `connected ${formatAge(node.connectedAtMs, Date.now())}`,
  ].filter((fact) => fact !== undefined);
  return html`
    <li class="row node">
      <div>
        <span class="strong">${visible(node.displayName ?? "Unnamed node", 60)}</span>
        ${connected ? badge("good", "online") : badge("quiet", "offline")}
        ${connected && !commands.includes("system.run") ? badge("quiet", "cannot run commands") : nothing}
        <div class="quiet">${facts.map((fact) => visible(fact, 80)).join(" · ")}</div>
        <div class="quiet">node <code>${node.nodeId.slice(0, 12)}</code></div>
      </div>
      ${connected ? drawCommands(caps, commands, permissions) : drawOffline()}
    </li>
  `;
}

function drawCommands(
  caps: readonly string[],
  commands: readonly string[],
  permissions: Readonly<Record<string, boolean>>,
): TemplateResult {
  const granted = Object.entries(permissions);
  return html`
    <dl class="facts">
      <dt>Capabilities</dt>
      <dd>${caps.length === 0 ? "none" : drawCodes(caps)}</dd>
      <dt>Permissions</dt>
      <dd>
        ${
          granted.length === 0
            ? "none reported"
            : html`<span class="codes"
                >${granted.map(([name, isGiven]) => badge(isGiven ? "good" : "bad", `${visible(name, 60)}: ${isGiven ? "yes" : "no"}`))}</span
              >`
        }
      </dd>
      <dt>Commands</dt>
      <dd>
        ${
          commands.length > 8
            ? html`<details class="more">
                <summary>${formatCount(commands.length, "command")}</summary>
                ${drawCodes(commands)}
              </details>`
            : commands.length === 0
              ? "none"
              : drawCodes(commands)
        }
      </dd>
    </dl>
  `;
}

/** The commands of an offline node are not known. */
function drawOffline(): TemplateResult {
  return html`<div class="away">
    <p class="quiet">To reconnect it, run on that machine:</p>
    <copy-line .text=${nodeCommand(location)}></copy-line>
  </div>`;
}

function drawCodes(items: readonly string[]): TemplateResult {
  return html`<span class="codes">${items.map((item) => html`<code>${visible(item, 80)}</code>`)}</span>`;
}

customElements.define("node-list", NodeList);
