// Draws an error: the message, the policy decision behind it, and the fix.
import { html, nothing, type TemplateResult } from "lit";

import { OpenClawError } from "../../../src/core/error.ts";
import { textOf } from "../credential.ts";
import { drawExplain } from "./decision.ts";
import { drawHint } from "./hint.ts";

export function drawFailure(error: unknown): TemplateResult {
  const message = error instanceof Error ? error.message : String(error);
  const explain = error instanceof OpenClawError ? textOf(error.details, "explain") : undefined;
  const hint = error instanceof OpenClawError ? error.hint : undefined;
  return html`
    <div class="note bad" role="alert">
      <p class="strong">${message}</p>
      ${
        hint === undefined
          ? nothing
          : html`<p>To change this:</p>
              ${drawHint(hint)}`
      }
      ${explain === undefined ? nothing : drawExplain(explain)}
    </div>
  `;
}
