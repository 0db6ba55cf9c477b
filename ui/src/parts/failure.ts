// What went wrong, in words: the message, why policy said so, and the way out.
import { html, nothing, type TemplateResult } from "lit";

import { HouseError } from "../../../src/core/error.ts";
import { textOf } from "../credential.ts";
import "./copy-line.ts";
import { drawExplain } from "./decision.ts";

export function drawFailure(error: unknown): TemplateResult {
  const message = error instanceof Error ? error.message : String(error);
  const explain = error instanceof HouseError ? textOf(error.details, "explain") : undefined;
  const hint = error instanceof HouseError ? error.hint : undefined;
  return html`
    <div class="note bad" role="alert">
      <p class="strong">${message}</p>
      ${
        hint === undefined
          ? nothing
          : html`<p>To change this:</p>
              <copy-line .text=${hint}></copy-line>`
      }
      ${explain === undefined ? nothing : drawExplain(explain)}
    </div>
  `;
}
