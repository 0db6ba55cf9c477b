// Draws Markdown: all text goes into text nodes, links open in a new tab, code has a copy button.
import { html, nothing, type TemplateResult } from "lit";

import { parseMarkdown, type BlockNode, type Inline } from "../chat/markdown.ts";
import "./copy-button.ts";

export function drawMarkdown(text: string): TemplateResult {
  return html`<div class="markdown">${parseMarkdown(text).map(drawBlock)}</div>`;
}

function drawBlock(block: BlockNode): TemplateResult {
  switch (block.kind) {
    case "paragraph":
      return html`<p>${block.inner.map(drawInline)}</p>`;
    case "heading":
      return drawHeading(block.depth, block.inner);
    case "code":
      return drawCode(block.language, block.text);
    case "quote":
      return html`<blockquote>${block.blocks.map(drawBlock)}</blockquote>`;
    case "list":
      return drawList(block);
    case "table":
      return drawTable(block);
    case "rule":
      return html`<hr />`;
  }
}

/** Headings rank below those of the page. */
function drawHeading(depth: number, inner: readonly Inline[]): TemplateResult {
  const content = inner.map(drawInline);
  if (depth <= 1) return html`<h3 class="big">${content}</h3>`;
  return depth === 2 ? html`<h3>${content}</h3>` : html`<h4>${content}</h4>`;
}

function drawCode(language: string, text: string): TemplateResult {
  return html`
    <div class="code-block">
      <div class="code-top">
        <span class="quiet">${language === "" ? "text" : language}</span><copy-button .text=${text}></copy-button>
      </div>
      <pre tabindex="0" aria-label=${`Code${language === "" ? "" : `, ${language}`}`}><code>${text}</code></pre>
    </div>
  `;
}

function drawList({ start, items }: Extract<BlockNode, { kind: "list" }>): TemplateResult {
  const rows = items.map((blocks) => html`<li>${blocks.map(drawBlock)}</li>`);
  return start === undefined
    ? html`<ul>
        ${rows}
      </ul>`
    : html`<ol start=${start}>
        ${rows}
      </ol>`;
}

function drawTable({ aligns, head, rows }: Extract<BlockNode, { kind: "table" }>): TemplateResult {
  const cell = (inner: readonly Inline[], column: number): TemplateResult =>
    html`<td class=${aligns[column] ?? nothing}>${inner.map(drawInline)}</td>`;
  return html`
    <div class="table-box" tabindex="0" role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            ${head.map((inner, column) => html`<th scope="col" class=${aligns[column] ?? nothing}>${inner.map(drawInline)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`<tr>
                ${row.map(cell)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  `;
}

function drawInline(node: Inline): TemplateResult | string {
  switch (node.kind) {
    case "text":
      return node.text;
    case "code":
      return html`<code>${node.text}</code>`;
    case "strong":
      return html`<strong>${node.inner.map(drawInline)}</strong>`;
    case "em":
      return html`<em>${node.inner.map(drawInline)}</em>`;
    case "del":
      return html`<del>${node.inner.map(drawInline)}</del>`;
    case "link":
      return html`<a href=${node.href} target="_blank" rel="noopener noreferrer">${node.inner.map(drawInline)}</a>`;
    case "image":
      return html`<img class="picture" src=${node.src} alt=${node.alt} />`;
    case "break":
      return html`<br />`;
    case "tick":
      return html`<input
        type="checkbox"
        disabled
        .checked=${node.isDone}
        aria-label=${node.isDone ? "done" : "open"}
      />`;
  }
}
