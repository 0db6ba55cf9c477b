// The fix for an error: a command with a copy button, or text.
import { html, nothing, type TemplateResult } from "lit";

import "./copy-line.ts";

export function drawHint(hint: string | undefined): TemplateResult | typeof nothing {
  if (hint === undefined) return nothing;
  return hint.startsWith("openclaw ") ? html`<copy-line .text=${hint}></copy-line>` : html`<p>${hint}</p>`;
}
