// A tool call in a conversation: arguments, live output, result and policy decision.
import { html, nothing, type TemplateResult } from "lit";

import type { App } from "../app.ts";
import type { ToolRow } from "../chat/rows.ts";
import { textOf } from "../credential.ts";
import { badge } from "./badge.ts";
import { drawDecision } from "./decision.ts";
import { drawTree } from "./json-tree.ts";
import { LightElement } from "./light-element.ts";
import { drawLoad, Load } from "./load.ts";
import { drawResult } from "./result.ts";

export class ToolCard extends LightElement {
  static override properties = {
    app: { attribute: false },
    row: { attribute: false },
    session: {},
    isWhyOpen: { state: true },
  };
  declare app: App;
  declare row: ToolRow;
  declare session: string;
  declare isWhyOpen: boolean;
  readonly #why = new Load(this, () =>
    this.app.client.request("tools.explain", { tool: this.row.name, sessionKey: this.session }),
  );

  constructor() {
    super();
    this.isWhyOpen = false;
  }

  protected override willUpdate(): void {
    if (this.isWhyOpen) this.#why.want(this.row.name);
  }

  protected override render(): TemplateResult {
    const { name, args, state, outcome } = this.row;
    return html`
      <details class="tool-card" data-state=${state}>
        <summary>
          <code class="strong">${name}</code>
          <span class="tool-about quiet">${summarize(args)}</span>
          ${drawState(this.row)}
        </summary>
        <div class="tool-body">
          ${args === undefined || args === null ? nothing : html`<div class="tree">${drawTree(args)}</div>`}
          ${this.#drawOutcome()}
          <details class="more" @toggle=${this.#toggleWhy}>
            <summary>${this.#whyTitle()}</summary>
            ${
              this.isWhyOpen
                ? drawLoad(this.#why, "the decision", ({ decision, text, unavailable }) =>
                    drawDecision({ decision, explain: text, ...(unavailable === undefined ? {} : { unavailable }) }),
                  )
                : nothing
            }
          </details>
        </div>
      </details>
      ${state === "running" && outcome !== undefined ? drawTail(lastLinesOf(outcome)) : nothing}
    `;
  }

  /** The result of a call that waits for approval is an instruction to the model. */
  #drawOutcome(): TemplateResult {
    const { state, outcome } = this.row;
    if (outcome === undefined) return html`<p class="quiet">${noOutcome[state]}</p>`;
    if (statusOf(outcome) !== "approval-pending") return drawResult(outcome);
    return html`<p class="quiet">Waits for approval. Its result appears below as a separate message.</p>`;
  }

  /** The policy decision is loaded only when the section is opened. */
  #whyTitle(): string {
    const isAllowed = this.#why.value?.decision.allowed ?? this.row.state !== "failed";
    return isAllowed ? "Why this is allowed" : "Why this is blocked";
  }

  readonly #toggleWhy = (event: Event): void => {
    event.stopPropagation();
    this.isWhyOpen = (event.currentTarget as HTMLDetailsElement).open;
  };
}

/** A call can end before its work does. The label stays true after that, because the result is a later message. */
const unfinished: Readonly<Record<string, string>> = {
  "approval-pending": "approval requested",
  running: "started in the background",
};

function drawState({ state, outcome }: ToolRow): TemplateResult {
  const label = state === "done" ? unfinished[statusOf(outcome) ?? ""] : undefined;
  return label === undefined ? badge(tones[state], stateLabels[state]) : badge("warn", label);
}

const statusOf = (outcome: ToolRow["outcome"]): string | undefined => textOf(outcome?.details, "status");

const tones = { running: "warn", done: "good", failed: "bad", open: "quiet" } as const;
const stateLabels = { running: "running", done: "done", failed: "failed", open: "no result" } as const;
const noOutcome = {
  running: "No output yet.",
  done: "The tool returned no output.",
  failed: "The tool ended without a result.",
  open: "The conversation contains no result for this call.",
} as const;

/** Shows the end of live output without opening the card. */
function drawTail(text: string): TemplateResult | typeof nothing {
  return text === "" ? nothing : html`<pre class="tool-tail" aria-label="Latest output">${text}</pre>`;
}

function lastLinesOf({ content }: NonNullable<ToolRow["outcome"]>): string {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return text.slice(-2000).trimEnd().split("\n").slice(-6).join("\n");
}

/** The first text argument is nearly always what the call is about. */
function summarize(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const [first] = Object.values(args).filter((value) => typeof value === "string" && value !== "");
  const line = typeof first === "string" ? (first.split("\n")[0] ?? "") : "";
  return line.length > 90 ? `${line.slice(0, 89)}…`.toWellFormed() : line;
}

customElements.define("tool-card", ToolCard);
