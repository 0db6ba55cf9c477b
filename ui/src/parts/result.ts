// The result of a tool: text, images and details.
import { html, nothing, type TemplateResult } from "lit";

import type { Block } from "../../../src/core/message.ts";
import type { ToolOutcome } from "../../../src/protocol/methods/tools.ts";
import { drawTree } from "./json-tree.ts";

export function drawResult({ content, details }: ToolOutcome): TemplateResult {
  return html`
    <div class="result">
      ${content.length === 0 ? html`<p class="quiet">The tool returned no output.</p>` : content.map(drawBlock)}
      ${
        details === undefined || details === null
          ? nothing
          : html`<details class="more">
              <summary>Details</summary>
              <div class="tree">${drawTree(details)}</div>
            </details>`
      }
    </div>
  `;
}

function drawBlock(block: Block): TemplateResult | typeof nothing {
  if (block.type === "text") return html`<pre class="output" tabindex="0" aria-label="Result text">${block.text}</pre>`;
  return drawPicture(block);
}

export function drawPicture(block: Block): TemplateResult | typeof nothing {
  if (block.type !== "image") return nothing;
  if (!isPicture(block.mimeType))
    return html`<p class="quiet">Image of type ${block.mimeType}, which this page cannot show.</p>`;
  return html`<img class="picture" alt="Result image" src=${`data:${block.mimeType};base64,${block.data}`} />`;
}

function isPicture(mimeType: string): boolean {
  return /^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(mimeType);
}
