// The way out of a failure: a command with a button that copies it, or plain words.
import { html, nothing, type TemplateResult } from "lit";

import "./copy-line.ts";

export function drawHint(hint: string | undefined): TemplateResult | typeof nothing {
  if (hint === undefined) return nothing;
  return hint.startsWith("openclaw ") ? html`<copy-line .text=${hint}></copy-line>` : html`<p>${hint}</p>`;
}
