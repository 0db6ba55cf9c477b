// Draws a policy decision: each rule, the deciding one, and the smallest change that reverses it.
import { html, nothing, type TemplateResult } from "lit";

import type { CatalogRow, Decision, LayerVerdict } from "../../../src/protocol/methods/tools.ts";
import { formatCount } from "../format.ts";
import { badge, type Tone } from "./badge.ts";
import "./copy-line.ts";

export function drawToolStatus(tool: CatalogRow): TemplateResult {
  if (!tool.allowed) return badge("bad", "blocked");
  if (!tool.built || !tool.available) return badge("quiet", "not available");
  return badge("good", "allowed");
}

export function drawDecision(tool: Pick<CatalogRow, "decision" | "explain" | "unavailable">): TemplateResult {
  const { decision, explain, unavailable } = tool;
  return html`
    <div class="decision">
      <p>${decision.decidedBy?.reason ?? (decision.allowed ? "No rule blocks it." : "No rule allows it.")}</p>
      ${decision.fix === undefined ? nothing : drawFix(decision.fix)}
      ${
        unavailable === undefined
          ? nothing
          : html`<div class="note quiet">
              <p>Not available: ${unavailable.reason}</p>
              ${
                unavailable.fix === undefined || unavailable.fix === ""
                  ? nothing
                  : html`<copy-line .text=${unavailable.fix}></copy-line>`
              }
            </div>`
      }
      ${(decision.warnings ?? []).map((warning) => html`<p class="note warn">${warning}</p>`)} ${drawLayers(decision)}
      ${drawExplain(explain)}
    </div>
  `;
}

/** The decision as the command line prints it, with file and line of each rule. */
export function drawExplain(explain: string): TemplateResult {
  return html`
    <details class="more">
      <summary>As text, with file and line</summary>
      <pre class="output wide-text" tabindex="0">${explain}</pre>
    </details>
  `;
}

function drawFix(fix: NonNullable<Decision["fix"]>): TemplateResult {
  return html`
    <div class="note">
      <p><span class="strong">To change this:</span> ${fix.summary}</p>
      ${fix.command === undefined ? nothing : html`<copy-line .text=${fix.command}></copy-line>`}
    </div>
  `;
}

function drawLayers({ layers, decidedBy }: Decision): TemplateResult {
  const [inapplicable, applied] = [layers.filter(isInapplicable), layers.filter((layer) => !isInapplicable(layer))];
  return html`
    <ol class="layers" aria-label="Policy rules in the order they are checked">
      ${applied.map((layer) => drawLayer(layer, layer.layer === decidedBy?.layer))}
    </ol>
    ${
      inapplicable.length === 0
        ? nothing
        : html`<details class="more">
            <summary>${formatCount(inapplicable.length, "rule")} did not apply</summary>
            <ol class="layers">
              ${inapplicable.map((layer) => drawLayer(layer, false))}
            </ol>
          </details>`
    }
  `;
}

function drawLayer({ layer, path, verdict, rule, note }: LayerVerdict, decides: boolean): TemplateResult {
  const where = rule?.path ?? path;
  return html`
    <li class=${decides ? "layer decides" : "layer"}>
      <span class="layer-name">${layerNames[layer] ?? layer}</span>
      ${badge(verdictTones[verdict] ?? "quiet", verdictNames[verdict] ?? verdict)}
      ${decides ? html`<span class="decider">decided by this rule</span>` : nothing}
      ${where === undefined ? nothing : html`<code class="where">${where}${rule?.entry === undefined ? "" : ` → ${rule.entry}`}</code>`}
      ${note === undefined ? nothing : html`<span class="quiet">${note}</span>`}
    </li>
  `;
}

const isInapplicable = ({ verdict }: LayerVerdict): boolean => verdict === "not-set" || verdict === "not-applicable";

const verdictTones: Readonly<Record<string, Tone>> = { pass: "good", block: "bad", ignored: "warn" };

const verdictNames: Readonly<Record<string, string>> = {
  pass: "allowed",
  block: "blocked",
  "not-set": "not set",
  "not-applicable": "does not apply",
};

const layerNames: Readonly<Record<string, string>> = {
  known: "Known tools",
  optional: "Optional plugin tools",
  profile: "Profile",
  "provider-profile": "Provider profile",
  global: "All agents",
  "global-provider": "All agents, this provider",
  agent: "This agent",
  "agent-provider": "This agent, this provider",
  group: "This chat",
  sandbox: "Sandbox",
  subagent: "Subagents",
  limit: "Limits of this call",
};
