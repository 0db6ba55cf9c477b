// One row of a conversation; drawn again only when the row itself changed.
import { html, nothing, type TemplateResult } from "lit";

import type { App } from "../app.ts";
import type { NoticeRow, ReplyRow, Row, SystemRow, UserRow } from "../chat/rows.ts";
import { conversationsOf } from "../chat/conversation-store.ts";
import { formatDate, formatTimestamp } from "../format.ts";
import { badge } from "./badge.ts";
import { drawHint } from "./hint.ts";
import { LightElement } from "./light-element.ts";
import { drawMarkdown } from "./markdown.ts";
import { drawPicture } from "./result.ts";
import "./tool-card.ts";

export class ChatRow extends LightElement {
  static override properties = { app: { attribute: false }, row: { attribute: false }, session: {} };
  declare app: App;
  declare row: Row;
  declare session: string;

  protected override render(): TemplateResult {
    const { row } = this;
    switch (row.kind) {
      case "user":
        return this.#drawUser(row);
      case "system":
        return drawSystemMessage(row);
      case "reply":
        return drawReply(row);
      case "tool":
        return html`<tool-card .app=${this.app} .row=${row} .session=${this.session}></tool-card>`;
      case "notice":
        return drawNotice(row);
    }
  }

  #drawUser({ text, pictures, atMs, phase, runId }: UserRow): TemplateResult {
    return html`
      <article class="message user" aria-label="You">
        ${pictures.map(drawPicture)}
        <div class="bubble">${text}</div>
        <div class="message-foot quiet">
          ${atMs === undefined ? nothing : drawTime(atMs)} ${phase === "sending" ? "sending …" : nothing}
          ${phase === "queued" ? badge("warn", "queued: sent after the current reply") : nothing}
        </div>
        ${phase === "unsent" && runId !== undefined ? this.#drawUnsent(runId) : nothing}
      </article>
    `;
  }

  #drawUnsent(runId: string): TemplateResult {
    const conversations = conversationsOf(this.app);
    const failure = conversations.conversation(this.session).runs.find((run) => run.runId === runId)?.failure;
    return html`
      <div class="note bad" role="alert">
        <p><span class="strong">Not sent.</span> ${failure?.message ?? ""}</p>
        ${drawHint(failure?.hint)}
        <div class="actions">
          <button class="button small" type="button" @click=${() => conversations.retry(this.session, runId)}>
            Send again
          </button>
          <button class="button small" type="button" @click=${() => conversations.discard(this.session, runId)}>
            Discard
          </button>
        </div>
      </div>
    `;
  }
}

function drawSystemMessage({ title, summary, text, atMs }: SystemRow): TemplateResult {
  const line = html`
    <span class="strong">${title}</span>
    <span class="system-summary">${summary}</span>
    ${atMs === undefined || atMs === 0 ? nothing : drawTime(atMs)}
  `;
  if (text === "") return html`<div class="system-message quiet"><div class="system-line">${line}</div></div>`;
  return html`
    <details class="system-message quiet" aria-label="System message">
      <summary class="system-line">${line}</summary>
      <div class="system-text">${text}</div>
    </details>
  `;
}

function drawReply({ text, atMs, model, usage, isLive, isStep }: ReplyRow): TemplateResult {
  const tokens = usage?.totalTokens ?? 0;
  return html`
    <article class="message reply" aria-label="Agent" aria-busy=${isLive} ?data-live=${isLive}>
      ${drawMarkdown(text)}
      ${
        isLive || isStep
          ? nothing
          : html`<div class="message-foot quiet">
              ${atMs === undefined || atMs === 0 ? nothing : drawTime(atMs)}
              ${model === undefined ? nothing : html`<span>${model}</span>`}
              ${tokens === 0 ? nothing : html`<span>${tokens.toLocaleString("en-US")} tokens</span>`}
              <copy-button .text=${text}></copy-button>
            </div>`
      }
    </article>
  `;
}

function drawNotice({ tone, text, hint }: NoticeRow): TemplateResult {
  if (tone === "quiet") return html`<p class="chat-notice quiet">${text}</p>`;
  return html`
    <div class="note bad" role="alert">
      <p class="strong">${text}</p>
      ${drawHint(hint)}
    </div>
  `;
}

function drawTime(atMs: number): TemplateResult {
  return html`<time datetime=${new Date(atMs).toISOString()} title=${formatDate(atMs)}
    >${formatTimestamp(atMs, Date.now())}</time
  >`;
}

customElements.define("chat-row", ChatRow);
