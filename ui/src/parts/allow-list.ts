// The allowlist of an approvals file: add and remove programs, and see when each was last used.
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";

import { visible } from "../../../src/core/visible.ts";
import { patternIssue, type AllowEntry } from "../nodes/rules.ts";
import { formatCount, formatAge } from "../format.ts";
import { badge } from "./badge.ts";
import { LightElement } from "./light-element.ts";

/** Events: `add` with a pattern, `remove` with an entry. */
export class AllowList extends LightElement {
  static override properties = {
    entries: { attribute: false },
    saved: { attribute: false },
    busy: { type: Boolean },
    pattern: { state: true },
    issue: { state: true },
  };
  declare entries: readonly AllowEntry[];
  /** The entries that are already in the file. */
  declare saved: readonly AllowEntry[];
  declare busy: boolean;
  declare pattern: string;
  declare issue: string | undefined;

  constructor() {
    super();
    this.pattern = "";
    this.busy = false;
  }

  protected override render(): TemplateResult {
    const { entries } = this;
    return html`
      <fieldset class="group">
        <legend>
          <span class="label">Allowlist</span> <span class="quiet">${formatCount(entries.length, "program")}</span>
        </legend>
        ${
          entries.length === 0
            ? html`<p class="quiet">The allowlist is empty.</p>`
            : html`<ul class="rows">
                ${entries.map((entry) => this.#drawEntry(entry))}
              </ul>`
        }
        ${this.#drawAdd()}
      </fieldset>
    `;
  }

  #drawAdd(): TemplateResult {
    return html`
      <form @submit=${this.#add}>
        <div class="field">
          <label for="rules-pattern"><span class="label">Program</span></label>
          <span class="about" id="rules-pattern-about"
            >A path; * matches one folder or file name, ** any number of them.</span
          >
          <div class="entry">
            <input
              id="rules-pattern"
              class="mono"
              autocomplete="off"
              autocapitalize="off"
              spellcheck="false"
              placeholder="/usr/bin/rg"
              aria-describedby="rules-pattern-about rules-pattern-issue"
              aria-invalid=${this.issue !== undefined}
              ?disabled=${this.busy}
              .value=${live(this.pattern)}
              @input=${(event: Event) => (this.pattern = (event.target as HTMLInputElement).value)}
            />
            <button class="button" type="submit" ?disabled=${this.busy}>Add</button>
          </div>
          <span class="issue" id="rules-pattern-issue" role="alert">${this.issue ?? ""}</span>
        </div>
      </form>
    `;
  }

  #drawEntry(entry: AllowEntry): TemplateResult {
    const isNew = !this.saved.some((one) => JSON.stringify(one) === JSON.stringify(entry));
    const bound = [
      entry.args === undefined ? undefined : `arguments ${JSON.stringify(entry.args)}`,
      entry.argPattern === undefined ? undefined : `arguments like ${entry.argPattern}`,
      entry.cwd === undefined ? undefined : `in ${entry.cwd}`,
    ].filter((part) => part !== undefined);
    return html`
      <li class="row">
        <div>
          <code class="strong">${visible(entry.pattern)}</code> ${isNew ? badge("warn", "not saved") : nothing}
          ${bound.length === 0 ? nothing : html`<div class="quiet">only ${visible(bound.join(", "))}</div>`}
          ${isNew ? nothing : html`<div class="quiet">${drawUse(entry)}</div>`}
        </div>
        <button
          class="button small"
          type="button"
          aria-label=${`Remove ${visible(entry.pattern)}`}
          ?disabled=${this.busy}
          @click=${() => this.#remove(entry)}
        >
          Remove
        </button>
      </li>
    `;
  }

  readonly #add = (event: Event): void => {
    event.preventDefault();
    const pattern = this.pattern.trim();
    this.issue = patternIssue(pattern, this.entries);
    if (this.issue !== undefined) return;
    this.dispatchEvent(new CustomEvent("add", { detail: pattern }));
    this.pattern = "";
  };

  /** Moves the focus, because the button disappears with its entry. */
  #remove(entry: AllowEntry): void {
    this.querySelector<HTMLElement>("input")?.focus();
    this.dispatchEvent(new CustomEvent("remove", { detail: entry }));
  }
}

function drawUse({ lastUsedAt, lastUsedCommand, lastResolvedPath }: AllowEntry): TemplateResult {
  if (lastUsedAt === undefined) return html`never used`;
  const command = lastUsedCommand === undefined ? nothing : html` for <code>${visible(lastUsedCommand)}</code>`;
  const path = lastResolvedPath === undefined ? nothing : html`, resolved to <code>${visible(lastResolvedPath)}</code>`;
  return html`used ${formatAge(lastUsedAt, Date.now())}${command}${path}`;
}

customElements.define("allow-list", AllowList);
