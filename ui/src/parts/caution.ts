// A warning for the owner, with the command that changes it.
import { html, type TemplateResult } from "lit";

import type { Caution } from "../../../src/protocol/methods/system.ts";
import "./copy-line.ts";

export function drawCaution({ text, fix }: Caution): TemplateResult {
  return html`
    <div class="note warn" role="note" aria-label="Caution">
      <p>${text}</p>
      <p><span class="strong">To change this:</span></p>
      <copy-line .text=${fix}></copy-line>
    </div>
  `;
}
