// The card of a pending approval, above every view; the buttons come after the full text.
import { html, nothing, type TemplateResult } from "lit";

import type { ApprovalDecision } from "../../../src/protocol/approval.ts";
import { OpenClawError } from "../../../src/core/error.ts";
import type { App } from "../app.ts";
import { textOf } from "../credential.ts";
import { dropApproval } from "../approvals.ts";
import { Watch, type PageState, type PendingApproval } from "../state.ts";
import { formatCount, formatDuration } from "../format.ts";
import { drawFailure } from "./failure.ts";
import { LightElement } from "./light-element.ts";

/** Buttons are disabled for a moment, so that a click meant for something else does not answer a new card. */
const enableAfterMs = 600;

const tooLateText = "Your answer did not count: the request was already answered or expired.";

export class ApprovalCard extends LightElement {
  static override properties = {
    app: { attribute: false },
    isCollapsed: { state: true },
    error: { state: true },
    enabledId: { state: true },
    sentId: { state: true },
    notice: { state: true },
  };
  declare app: App;
  declare isCollapsed: boolean;
  declare error: unknown;
  /** The approval whose buttons are enabled. */
  declare enabledId: string | undefined;
  /** The approval whose answer is being sent. */
  declare sentId: string | undefined;
  /** Why the last answer had no effect: it was too late, or the policy changed. */
  declare notice: string | undefined;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  #shownId: string | undefined;
  #seen: ReadonlySet<string> = new Set();
  #enableTimer: ReturnType<typeof setTimeout> | undefined;
  #refreshTimer: ReturnType<typeof setInterval> | undefined;
  #noticeTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.isCollapsed = false;
    this.notice = undefined;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#refreshTimer = setInterval(() => this.requestUpdate(), 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#refreshTimer);
    clearTimeout(this.#enableTimer);
    clearTimeout(this.#noticeTimer);
  }

  protected override willUpdate(): void {
    const { approvals } = this.#state.value;
    const [first] = approvals;
    if (approvals.some(({ id }) => !this.#seen.has(id))) this.isCollapsed = false;
    this.#seen = new Set(approvals.map(({ id }) => id));
    if (first?.id === this.#shownId) return;
    this.#shownId = first?.id;
    this.error = undefined;
    this.#enableButtons(first?.id);
  }

  protected override render(): TemplateResult {
    const { approvals } = this.#state.value;
    const [first] = approvals;
    const notice = this.notice === undefined ? nothing : html`<p class="note warn" role="status">${this.notice}</p>`;
    if (first === undefined) return html`${notice === nothing ? nothing : html`<div class="approval">${notice}</div>`}`;
    if (this.isCollapsed) return this.#drawCollapsed(approvals.length);
    return html`
      <section class="approval" aria-label="Approvals" @keydown=${this.#escape}>
        ${notice}
        <header>
          <h2 aria-live="assertive">${headline(approvals.length)}</h2>
          <button class="button small" type="button" aria-expanded="true" @click=${this.#toggle}>Later</button>
          <span class="quiet" aria-label="Time left">${timeLeft(first)}</span>
        </header>
        ${this.#drawCard(first, approvals.length - 1)}
      </section>
    `;
  }

  /** A small button that covers no content. */
  #drawCollapsed(waiting: number): TemplateResult {
    return html`
      <section class="approval-collapsed" aria-label="Approvals">
        <button class="button small" type="button" aria-expanded="false" @click=${this.#toggle}>
          ${waiting} to approve
        </button>
      </section>
    `;
  }

  #drawCard(approval: PendingApproval, behind: number): TemplateResult {
    const { card } = approval;
    const isLocked = this.enabledId !== approval.id || this.sentId === approval.id;
    const button = (decision: ApprovalDecision, text: string, className = ""): TemplateResult => html`
      <button
        class="button ${className}"
        type="button"
        ?disabled=${isLocked}
        @click=${() => this.#answer(approval.id, decision)}
      >
        ${text}
      </button>
    `;
    return html`
      <p class="strong">${card.title}</p>
      <pre class="approval-text" tabindex="0" aria-label="Requested action">${drawText(approval)}</pre>
      <dl class="facts">
        ${card.rows.map(
          ({ label, value }) =>
            html`<dt>${label}</dt>
              <dd class="mono">${value}</dd>`,
        )}
      </dl>
      ${
        card.always === undefined
          ? nothing
          : html`<p class="quiet"><span class="strong">Always allow</span> covers ${card.always}.</p>`
      }
      ${this.error === undefined ? nothing : drawFailure(this.error)}
      <div class="actions">
        ${button("allow-once", "Allow once", "primary")}
        ${card.always === undefined ? nothing : button("allow-always", "Always allow")} ${button("deny", "Deny")}
        ${behind === 0 ? nothing : html`<span class="quiet">${behind} more waiting</span>`}
      </div>
    `;
  }

  #enableButtons(id: string | undefined): void {
    clearTimeout(this.#enableTimer);
    this.#enableTimer = setTimeout(() => (this.enabledId = id), enableAfterMs);
  }

  async #answer(id: string, decision: ApprovalDecision): Promise<void> {
    this.sentId = id;
    this.error = undefined;
    const failure = await this.app.client.request("exec.approval.resolve", { id, decision }).then(
      (answer) => this.#showBlocked(answer),
      (error: unknown) => error,
    );
    this.sentId = undefined;
    if (isUnknown(failure)) this.#showNotice(tooLateText, 8000);
    else this.error = failure;
    if (failure === undefined || isUnknown(failure)) dropApproval(this.app.store, id);
  }

  /** The gateway answers an approval that the current policy blocks with the reason. */
  #showBlocked(answer: unknown): undefined {
    const { reason } = (answer ?? {}) as { readonly reason?: unknown };
    if (typeof reason === "string") this.#showNotice(`Not run: the current policy blocks it. ${reason}`, 30_000);
  }

  #showNotice(text: string, forMs: number): void {
    this.notice = text;
    clearTimeout(this.#noticeTimer);
    this.#noticeTimer = setTimeout(() => (this.notice = undefined), forMs);
  }

  /** Keeps the focus on the button that replaces the pressed one. */
  readonly #toggle = async (): Promise<void> => {
    this.isCollapsed = !this.isCollapsed;
    await this.updateComplete;
    this.querySelector<HTMLElement>("[aria-expanded]")?.focus();
  };

  readonly #escape = (event: KeyboardEvent): void => {
    if (event.key === "Escape") void this.#toggle();
  };
}

/** Colors added and removed lines of a diff; the text stays the same. */
function drawText({ kind, card }: PendingApproval): readonly (string | TemplateResult)[] | string {
  if (kind !== "config") return card.text;
  return card.text.split("\n").map((line, at) => {
    const className = /^(?:\+\+\+|---) /.test(line)
      ? "quiet"
      : line.startsWith("+")
        ? "added"
        : line.startsWith("-")
          ? "removed"
          : "";
    return html`${at === 0 ? "" : "\n"}${className === "" ? line : html`<span class=${className}>${line}</span>`}`;
  });
}

function headline(waiting: number): string {
  return waiting === 1 ? "Your approval is needed" : `${formatCount(waiting, "approval")} are needed`;
}

function timeLeft({ endsAtMs }: PendingApproval): string {
  return `Expires in ${formatDuration(endsAtMs - Date.now())}`;
}

function isUnknown(error: unknown): boolean {
  return error instanceof OpenClawError && textOf(error.details, "code") === "approval.unknown";
}

customElements.define("approval-card", ApprovalCard);
