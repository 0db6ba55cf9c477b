// A tool call inside a conversation: what was asked, what it says while it runs, what came back, and why it may run.
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
          <span class="tool-about quiet">${summarise(args)}</span>
          ${drawState(this.row)}
        </summary>
        <div class="tool-body">
          ${args === undefined || args === null ? nothing : html`<div class="tree">${drawTree(args)}</div>`}
          ${outcome === undefined ? html`<p class="quiet">${silent[state]}</p>` : drawResult(outcome)}
          <details class="more" @toggle=${this.#turnWhy}>
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

  /** Whether the policy allows the tool is read only when somebody asks. */
  #whyTitle(): string {
    const isAllowed = this.#why.value?.decision.allowed ?? this.row.state !== "failed";
    return isAllowed ? "Why this is allowed" : "Why this is blocked";
  }

  readonly #turnWhy = (event: Event): void => {
    event.stopPropagation();
    this.isWhyOpen = (event.currentTarget as HTMLDetailsElement).open;
  };
}

/** A call may be over while what it asked for is not; the words stay true when that ends, which is told further down. */
const unfinished: Readonly<Record<string, string>> = {
  "approval-pending": "approval requested",
  running: "started in the background",
};

function drawState({ state, outcome }: ToolRow): TemplateResult {
  const left = state === "done" ? unfinished[textOf(outcome?.details, "status") ?? ""] : undefined;
  return left === undefined ? badge(tones[state], words[state]) : badge("warn", left);
}

const tones = { running: "warn", done: "good", failed: "bad", open: "quiet" } as const;
const words = { running: "running", done: "done", failed: "failed", open: "no result" } as const;
const silent = {
  running: "No output yet.",
  done: "The tool returned no output.",
  failed: "The tool ended without a result.",
  open: "The conversation contains no result for this call.",
} as const;

/** Live output shows without opening the card, but only its end. */
function drawTail(text: string): TemplateResult | typeof nothing {
  return text === "" ? nothing : html`<pre class="tool-tail" aria-label="Latest output">${text}</pre>`;
}

function lastLinesOf({ content }: NonNullable<ToolRow["outcome"]>): string {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return text.slice(-2000).trimEnd().split("\n").slice(-6).join("\n");
}

/** The first thing asked for is nearly always what the call is about. */
function summarise(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const [first] = Object.values(args).filter((value) => typeof value === "string" && value !== "");
  const line = typeof first === "string" ? (first.split("\n")[0] ?? "") : "";
  return line.length > 90 ? `${line.slice(0, 89)}…`.toWellFormed() : line;
}

customElements.define("tool-card", ToolCard);
