// The latest tool calls with agent and outcome.
import { html, nothing, type TemplateResult } from "lit";

import type { App } from "../app.ts";
import { Watch, type PageState } from "../state.ts";
import { textOf } from "../credential.ts";
import { toHash } from "../route.ts";
import type { JournalEntry } from "../../../src/protocol/methods/tools.ts";
import { formatAge, formatElapsed } from "../format.ts";
import { badge, type Tone } from "./badge.ts";
import { LightElement } from "./light-element.ts";
import { drawLoad, Load } from "./load.ts";

const shown = 15;

export class JournalList extends LightElement {
  static override properties = { app: { attribute: false } };
  declare app: App;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  readonly #journal = new Load(this, () => this.app.client.request("tools.journal", { limit: shown }));

  protected override willUpdate(): void {
    this.#journal.want(String(this.#state.value.epoch));
  }

  protected override render(): TemplateResult {
    return html`
      <h2>
        Recent tool calls
        <button class="button small" type="button" @click=${this.#journal.reload} ?disabled=${this.#journal.isLoading}>
          Refresh
        </button>
      </h2>
      ${drawLoad(this.#journal, "the journal", ({ entries }) =>
        entries.length === 0
          ? html`<p class="quiet">No tool has run yet. Open <a href=${toHash("tools")}>Tools</a> and try one.</p>`
          : html`<ul class="rows">
              ${entries.map(drawEntry)}
            </ul>`,
      )}
    `;
  }
}

function drawEntry(entry: JournalEntry): TemplateResult {
  const intent = describeIntent(entry.intent);
  const error = typeof entry.error === "string" ? entry.error : textOf(entry.error, "message");
  return html`
    <li class="row">
      <div>
        <a class="strong" href=${toHash("tools", entry.tool)}>${entry.tool}</a>
        ${badge(outcomeTones[entry.outcome] ?? "quiet", entry.outcome === "refused" ? "blocked" : entry.outcome)}
        ${intent === undefined ? nothing : html`<code class="where">${intent}</code>`}
        <div class="quiet">
          ${[
            formatAge(new Date(entry.at).getTime(), Date.now()),
            entry.durationMs === undefined ? "" : formatElapsed(entry.durationMs),
            entry.agentId ?? "",
            entry.caller ?? "",
          ]
            .filter((part) => part !== "")
            .join(" · ")}
        </div>
        ${error === undefined ? nothing : html`<div class="issue">${error}</div>`}
      </div>
    </li>
  `;
}

/** The sentence of the journal that says what a call is about to do. */
function describeIntent(intent: unknown): string | undefined {
  if (typeof intent === "string") return intent;
  if (typeof intent !== "object" || intent === null) return undefined;
  const facts: Record<string, unknown> = { ...intent };
  const does = typeof facts["does"] === "string" ? facts["does"] : "";
  const about = [facts["paths"], facts["command"], facts["url"], facts["to"], facts["what"]]
    .flat()
    .filter((part) => typeof part === "string");
  return does === "" ? undefined : [does, ...about].join(" ");
}

const outcomeTones: Readonly<Record<string, Tone>> = {
  ok: "good",
  error: "bad",
  refused: "bad",
  aborted: "warn",
  unknown: "warn",
  started: "quiet",
};

customElements.define("journal-list", JournalList);
