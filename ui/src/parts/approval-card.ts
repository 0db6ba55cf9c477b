// The card that asks for a yes or a no, above whatever view is open. The answers stand below all there is to read.
import { html, nothing, type TemplateResult } from "lit";

import type { ApprovalDecision } from "../../../src/protocol/approval.ts";
import type { App } from "../app.ts";
import { dropApproval } from "../approvals.ts";
import { Watch, type PageState, type PendingApproval } from "../state.ts";
import { formatCount, formatDuration } from "../format.ts";
import { drawFailure } from "./failure.ts";
import { LightElement } from "./light-element.ts";

/** A card that slides under a finger already on its way must not be answered by it. */
const armingMs = 600;

const tooLateText = "Your answer did not count: the request was already answered or expired.";

export class ApprovalCard extends LightElement {
  static override properties = {
    app: { attribute: false },
    isFolded: { state: true },
    error: { state: true },
    armedId: { state: true },
    sentId: { state: true },
    notice: { state: true },
  };
  declare app: App;
  declare isFolded: boolean;
  declare error: unknown;
  /** The card whose buttons may be pressed. */
  declare armedId: string | undefined;
  /** The card whose answer is on its way. */
  declare sentId: string | undefined;
  /** Why the last answer started nothing: it came too late, or the rules changed. */
  declare notice: string | undefined;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  #shownId: string | undefined;
  #seen: ReadonlySet<string> = new Set();
  #arming: ReturnType<typeof setTimeout> | undefined;
  #ticking: ReturnType<typeof setInterval> | undefined;
  #forgetting: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.isFolded = false;
    this.notice = undefined;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#ticking = setInterval(() => this.requestUpdate(), 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#ticking);
    clearTimeout(this.#arming);
    clearTimeout(this.#forgetting);
  }

  protected override willUpdate(): void {
    const { approvals } = this.#state.value;
    const [first] = approvals;
    if (approvals.some(({ id }) => !this.#seen.has(id))) this.isFolded = false;
    this.#seen = new Set(approvals.map(({ id }) => id));
    if (first?.id === this.#shownId) return;
    this.#shownId = first?.id;
    this.error = undefined;
    this.#arm(first?.id);
  }

  protected override render(): TemplateResult {
    const { approvals } = this.#state.value;
    const [first] = approvals;
    const notice = this.notice === undefined ? nothing : html`<p class="note warn" role="status">${this.notice}</p>`;
    if (first === undefined) return html`${notice === nothing ? nothing : html`<div class="approval">${notice}</div>`}`;
    if (this.isFolded) return this.#drawFolded(approvals.length);
    return html`
      <section class="approval" aria-label="Approvals" @keydown=${this.#escape}>
        ${notice}
        <header>
          <h2 aria-live="assertive">${headline(approvals.length)}</h2>
          <button class="button small" type="button" aria-expanded="true" @click=${this.#fold}>Later</button>
          <span class="quiet" aria-label="Time left">${timeLeft(first)}</span>
        </header>
        ${this.#drawCard(first, approvals.length - 1)}
      </section>
    `;
  }

  /** Small, and where it covers nothing: what waits can wait while something is typed. */
  #drawFolded(waiting: number): TemplateResult {
    return html`
      <section class="approval-folded" aria-label="Approvals">
        <button class="button small" type="button" aria-expanded="false" @click=${this.#fold}>
          ${waiting} to approve
        </button>
      </section>
    `;
  }

  #drawCard(approval: PendingApproval, behind: number): TemplateResult {
    const { card } = approval;
    const isLocked = this.armedId !== approval.id || this.sentId === approval.id;
    const button = (decision: ApprovalDecision, words: string, look = ""): TemplateResult => html`
      <button
        class="button ${look}"
        type="button"
        ?disabled=${isLocked}
        @click=${() => this.#answer(approval.id, decision)}
      >
        ${words}
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

  #arm(id: string | undefined): void {
    clearTimeout(this.#arming);
    this.#arming = setTimeout(() => (this.armedId = id), armingMs);
  }

  async #answer(id: string, decision: ApprovalDecision): Promise<void> {
    this.sentId = id;
    this.error = undefined;
    const failure = await this.app.client.request("exec.approval.resolve", { id, decision }).then(
      (answer) => this.#sayRefused(answer),
      (error: unknown) => error,
    );
    this.sentId = undefined;
    if (isUnknown(failure)) this.#say(tooLateText, 8000);
    else this.error = failure;
    if (failure === undefined || isUnknown(failure)) dropApproval(this.app.store, id);
  }

  /** A yes that the rules in force do not allow is answered with the reason. */
  #sayRefused(answer: unknown): undefined {
    const { reason } = (answer ?? {}) as { readonly reason?: unknown };
    if (typeof reason === "string") this.#say(`Not run: the current policy blocks it. ${reason}`, 30_000);
  }

  #say(words: string, forMs: number): void {
    this.notice = words;
    clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => (this.notice = undefined), forMs);
  }

  /** The focus stays on the button that takes the place of the one that was pressed. */
  readonly #fold = async (): Promise<void> => {
    this.isFolded = !this.isFolded;
    await this.updateComplete;
    this.querySelector<HTMLElement>("[aria-expanded]")?.focus();
  };

  readonly #escape = (event: KeyboardEvent): void => {
    if (event.key === "Escape") void this.#fold();
  };
}

/** Of a change, what goes and what comes is marked; the words are the same, sign and all. */
function drawText({ kind, card }: PendingApproval): readonly (string | TemplateResult)[] | string {
  if (kind !== "config") return card.text;
  return card.text.split("\n").map((line, at) => {
    const look = /^(?:\+\+\+|---) /.test(line)
      ? "quiet"
      : line.startsWith("+")
        ? "comes"
        : line.startsWith("-")
          ? "goes"
          : "";
    return html`${at === 0 ? "" : "\n"}${look === "" ? line : html`<span class=${look}>${line}</span>`}`;
  });
}

function headline(waiting: number): string {
  return waiting === 1 ? "Your approval is needed" : `${formatCount(waiting, "approval")} are needed`;
}

function timeLeft({ endsAtMs }: PendingApproval): string {
  return `Expires in ${formatDuration(endsAtMs - Date.now())}`;
}

function isUnknown(error: unknown): boolean {
  return error instanceof Error && error.message === "unknown approval id";
}

customElements.define("approval-card", ApprovalCard);
