// One tool: what it does, its policy decision, a form to run it, and the result.
import { html, nothing, type TemplateResult } from "lit";

import type { App } from "../app.ts";
import { asSchema } from "../form/field.ts";
import { toolStatus } from "../tool-list.ts";
import type { CatalogRow, ToolOutcome } from "../../../src/protocol/methods/tools.ts";
import { formatElapsed } from "../format.ts";
import { drawCaution } from "./caution.ts";
import { drawDecision, drawToolStatus } from "./decision.ts";
import { drawFailure } from "./failure.ts";
import { drawTree } from "./json-tree.ts";
import { LightElement } from "./light-element.ts";
import { drawResult } from "./result.ts";
import "./schema-form.ts";

/** A tool can run for long; the journal records its outcome even when the page stopped waiting. */
const toolAnswerMs = 10 * 60_000;

type Run =
  | { readonly phase: "idle" }
  | { readonly phase: "running"; readonly sinceMs: number }
  | { readonly phase: "done"; readonly tookMs: number; readonly outcome: ToolOutcome }
  | { readonly phase: "failed"; readonly tookMs: number; readonly error: unknown };

export class ToolPanel extends LightElement {
  static override properties = {
    app: { attribute: false },
    tool: { attribute: false },
    who: { attribute: false },
    session: {},
    run: { state: true },
  };
  declare app: App;
  declare tool: CatalogRow;
  declare who: { agentId?: string; model?: string };
  declare session: string;
  declare run: Run;

  constructor() {
    super();
    this.run = { phase: "idle" };
  }

  protected override render(): TemplateResult {
    const { tool } = this;
    const isAllowed = toolStatus(tool) === "allowed";
    return html`
      <article class="panel">
        <h2 class="tool-title"><code>${tool.name}</code> ${drawToolStatus(tool)}</h2>
        ${tool.summary === "" ? nothing : html`<p>${tool.summary}</p>`}
        ${tool.place === undefined ? nothing : drawPlace(tool.place)}
        ${
          tool.description === "" || tool.description === tool.summary
            ? nothing
            : html`<details class="more">
                <summary>Full description</summary>
                <pre class="plain">${tool.description}</pre>
              </details>`
        }
        <details class="more" ?open=${!isAllowed}>
          <summary>Why this is ${toolStatus(tool)}</summary>
          ${drawDecision(tool)}
        </details>
        ${tool.built ? this.#drawRun() : nothing}
      </article>
    `;
  }

  #drawRun(): TemplateResult {
    const isBusy = this.run.phase === "running";
    const schema = asSchema(this.tool.parameters);
    return html`
      <section class="run" aria-label=${`Run ${this.tool.name}`}>
        <h3>Run <span class="quiet">as you, in session ${this.session}</span></h3>
        ${toolStatus(this.tool) === "allowed" ? nothing : html`<p class="quiet">The gateway will block this call.</p>`}
        <schema-form
          .schema=${schema}
          .action=${isBusy ? "Running …" : "Run"}
          ?busy=${isBusy}
          @value=${this.#invoke}
        ></schema-form>
        <div class="outcome" aria-live="polite">${this.#drawOutcome()}</div>
        <details class="more">
          <summary>Schema</summary>
          <div class="tree">${drawTree(schema)}</div>
        </details>
      </section>
    `;
  }

  #drawOutcome(): TemplateResult | typeof nothing {
    const { run } = this;
    if (run.phase === "idle") return nothing;
    if (run.phase === "running") return html`<p class="quiet" role="status">The tool is running …</p>`;
    const took = html`<span class="quiet">after ${formatElapsed(run.tookMs)}</span>`;
    if (run.phase === "failed")
      return html`<h3>Failed ${took}</h3>
        ${drawFailure(run.error)}`;
    return html`<h3>Result ${took}</h3>
      ${drawResult(run.outcome)}`;
  }

  readonly #invoke = async ({ detail }: CustomEvent<Record<string, unknown>>): Promise<void> => {
    const sinceMs = performance.now();
    this.run = { phase: "running", sinceMs };
    const call = this.app.client.request(
      "tools.invoke",
      { tool: this.tool.name, args: detail, ...this.who },
      toolAnswerMs,
    );
    this.run = await call.then(
      ({ result }): Run => ({ phase: "done", tookMs: performance.now() - sinceMs, outcome: result }),
      (error: unknown): Run => ({ phase: "failed", tookMs: performance.now() - sinceMs, error }),
    );
    await this.updateComplete;
    this.querySelector(".outcome")?.scrollIntoView({ block: "nearest" });
  };
}

function drawPlace({ summary, rules, caution }: NonNullable<CatalogRow["place"]>): TemplateResult {
  return html`
    ${caution === undefined ? nothing : drawCaution(caution)}
    <details class="more">
      <summary>Runs ${summary}</summary>
      <ul class="plain-list">
        ${rules.map((rule) => html`<li>${rule}</li>`)}
      </ul>
    </details>
  `;
}

customElements.define("tool-panel", ToolPanel);
