// Draws JSON as a collapsible tree.
import { html, type TemplateResult } from "lit";

import { formatCount } from "../format.ts";

const openDepth = 1;
const mostBranches = 200;

export function drawTree(value: unknown, name = "", depth = 0): TemplateResult {
  if (typeof value !== "object" || value === null)
    return html`<div class="leaf">${label(name)}${drawLeaf(value)}</div>`;
  const branches = Object.entries(value);
  const size = Array.isArray(value)
    ? formatCount(branches.length, "entry", "entries")
    : formatCount(branches.length, "key");
  if (branches.length === 0) return html`<div class="leaf">${label(name)}<span class="quiet">${size}</span></div>`;
  const shown = branches.slice(0, mostBranches);
  return html`
    <details class="branch" ?open=${depth < openDepth}>
      <summary>${label(name)}<span class="quiet">${size}</span></summary>
      ${shown.map(([key, branch]) => drawTree(branch, key, depth + 1))}
      ${branches.length > shown.length ? html`<div class="leaf quiet">… and ${branches.length - shown.length} more</div>` : ""}
    </details>
  `;
}

function label(name: string): TemplateResult | string {
  return name === "" ? "" : html`<span class="key">${name}</span> `;
}

function drawLeaf(value: unknown): TemplateResult {
  return html`<span class="value ${value === null ? "null" : typeof value}"
    >${JSON.stringify(value) ?? "undefined"}</span
  >`;
}
