// The form for a new job, with a preview of its next runs.
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";

import type { App } from "../app.ts";
import { firstDraft, issuesOf, scheduleOf, toJob, unitMs, type Issues, type JobDraft } from "../cron/draft.ts";
import { toHash } from "../route.ts";
import { Watch, type PageState } from "../state.ts";
import type { CronPreview } from "../../../src/protocol/methods/cron.ts";
import { drawFailure } from "./failure.ts";
import { LightElement } from "./light-element.ts";
import { Load } from "./load.ts";

type TextKey = "name" | "at" | "amount" | "expr" | "tz" | "text" | "channel" | "to";
type ChoiceKey = "when" | "unit" | "what" | "agentId" | "wakeMode" | "delivery";
type Options = readonly (readonly [value: string, label: string])[];

export class JobForm extends LightElement {
  static override properties = {
    app: { attribute: false },
    draft: { state: true },
    issues: { state: true },
    isSaving: { state: true },
    error: { state: true },
  };
  declare app: App;
  declare draft: JobDraft;
  declare issues: Issues;
  declare isSaving: boolean;
  declare error: unknown;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  readonly #agents = new Load(this, () => this.app.client.request("agents.list", {}));
  readonly #preview = new Load(this, () => this.#loadPreview());

  constructor() {
    super();
    this.draft = firstDraft;
    this.issues = new Map();
    this.isSaving = false;
  }

  protected override willUpdate(): void {
    this.#agents.want(String(this.#state.value.epoch));
    const schedule = scheduleOf(this.draft);
    if (schedule !== undefined) this.#preview.want(JSON.stringify([this.#state.value.epoch, schedule]));
  }

  protected override render(): TemplateResult {
    const { draft } = this;
    const isIsolated = draft.what !== "systemEvent";
    const agents = (this.#agents.value?.agents ?? []).map(({ id }) => [id, id] as const);
    return html`
      <article class="panel">
        <h2>Add a job</h2>
        <form class="schema-form" novalidate @submit=${this.#submit}>
          ${this.#drawText("name", "Name", "Default: the first words of the text.")}
          <div class="pairs">${this.#drawChoice("when", "When", whens)} ${this.#drawWhen()}</div>
          ${this.#drawTimes()} ${this.#drawChoice("what", "What", whats)} ${this.#drawLong()}
          <div class="pairs">
            ${this.#drawChoice("agentId", "Agent", [["", "Default agent"], ...agents])}
            ${isIsolated ? this.#drawChoice("delivery", "Result", deliveries) : this.#drawChoice("wakeMode", "Delivery", wakes)}
          </div>
          ${
            isIsolated && draft.delivery === "announce"
              ? html`<div class="pairs">
                  ${this.#drawText("channel", "Channel", "Default: your last active chat.", "telegram")}
                  ${this.#drawText("to", "To", "Recipient on that channel.")}
                </div>`
              : nothing
          }
          ${draft.when === "at" ? this.#drawKeep() : nothing}
          <div class="actions">
            <button class="button primary" type="submit" ?disabled=${this.isSaving}>
              ${this.isSaving ? "Adding …" : "Add the job"}
            </button>
            <a href=${toHash("cron")}>Cancel</a>
          </div>
        </form>
        <div aria-live="polite">${this.error === undefined ? nothing : drawFailure(this.error)}</div>
      </article>
    `;
  }

  #drawWhen(): TemplateResult {
    if (this.draft.when === "at") return this.#drawText("at", "At", "In your local time.", "", "datetime-local");
    if (this.draft.when === "every")
      return html`${this.#drawText("amount", "Every", "")}
      ${this.#drawChoice(
        "unit",
        "Unit",
        Object.keys(unitMs).map((unit) => [unit, unit]),
      )}`;
    return html`
      ${this.#drawText("expr", "Expression", "Minute, hour, day, month, weekday.", "0 7 * * 1-5")}
      ${this.#drawText("tz", "Time zone", "Default: the time zone of the gateway.", "Europe/Berlin")}
    `;
  }

  #drawTimes(): TemplateResult | typeof nothing {
    const { value, error } = this.#preview;
    if (scheduleOf(this.draft) === undefined) return nothing;
    if (error !== undefined)
      return html`<p class="issue" role="status">
        ${error instanceof Error ? error.message : "The gateway rejected this schedule."}
      </p>`;
    return value === undefined ? nothing : drawFires(value);
  }

  #drawText(key: TextKey, label: string, about: string, placeholder = "", type = "text"): TemplateResult {
    const issue = this.issues.get(key);
    return html`
      <div class="field">
        <label for=${`job-${key}`}><span class="label">${label}</span></label>
        ${about === "" ? nothing : html`<span class="about" id=${`job-${key}-about`}>${about}</span>`}
        <input
          id=${`job-${key}`}
          type=${type}
          autocomplete="off"
          spellcheck="false"
          placeholder=${placeholder}
          aria-invalid=${issue !== undefined}
          aria-describedby=${`job-${key}-about job-${key}-issue`}
          .value=${live(this.draft[key])}
          @input=${(event: Event) => this.#put({ [key]: (event.target as HTMLInputElement).value })}
        />
        ${issue === undefined ? nothing : html`<span class="issue" id=${`job-${key}-issue`} role="alert">${issue}</span>`}
      </div>
    `;
  }

  #drawLong(): TemplateResult {
    const issue = this.issues.get("text");
    const { label, about } = texts[this.draft.what];
    return html`
      <div class="field">
        <label for="job-text"><span class="label">${label}</span></label>
        <span class="about" id="job-text-about">${about}</span>
        <textarea
          id="job-text"
          rows="4"
          spellcheck="false"
          aria-invalid=${issue !== undefined}
          aria-describedby="job-text-about job-text-issue"
          .value=${live(this.draft.text)}
          @input=${(event: Event) => this.#put({ text: (event.target as HTMLTextAreaElement).value })}
        ></textarea>
        ${issue === undefined ? nothing : html`<span class="issue" id="job-text-issue" role="alert">${issue}</span>`}
      </div>
    `;
  }

  #drawChoice(key: ChoiceKey, label: string, options: Options): TemplateResult {
    const chosen: string = this.draft[key];
    return html`
      <div class="field">
        <label for=${`job-${key}`}><span class="label">${label}</span></label>
        <select
          id=${`job-${key}`}
          .value=${live(chosen)}
          @change=${(event: Event) => this.#put({ [key]: (event.target as HTMLSelectElement).value })}
        >
          ${options.map(([value, text]) => html`<option value=${value} ?selected=${value === chosen}>${text}</option>`)}
        </select>
      </div>
    `;
  }

  #drawKeep(): TemplateResult {
    return html`<label class="switch">
      <input
        type="checkbox"
        .checked=${live(this.draft.isKept)}
        @change=${(event: Event) => this.#put({ isKept: (event.target as HTMLInputElement).checked })}
      />
      Keep the job after it succeeds
    </label>`;
  }

  #put(change: Partial<JobDraft>): void {
    this.draft = { ...this.draft, ...change };
    this.error = undefined;
    const stillOpen = issuesOf(this.draft);
    this.issues = new Map([...this.issues].filter(([key]) => stillOpen.has(key)));
  }

  #loadPreview(): Promise<CronPreview> {
    return this.app.client.request("cron.preview", { job: { schedule: scheduleOf(this.draft) }, count: 3 });
  }

  readonly #submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    this.issues = issuesOf(this.draft);
    if (this.issues.size > 0) {
      await this.updateComplete;
      this.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
      return;
    }
    this.isSaving = true;
    try {
      const { id } = await this.app.client.request("cron.add", toJob(this.draft));
      location.hash = toHash("cron", id);
    } catch (error) {
      this.error = error;
    }
    this.isSaving = false;
  };
}

/** The gateway adds seconds; the page shows dates to the minute. */
const dateChars = "2026-11-17 02:30".length;

function drawFires({ fires, tz }: CronPreview): TemplateResult {
  if (fires.length === 0) return html`<p class="issue" role="status">This schedule never runs.</p>`;
  const dates = fires.map(({ local, note }) => `${local.slice(0, dateChars)}${note === undefined ? "" : ` (${note})`}`);
  return html`<p class="quiet" role="status">Next: ${dates.join("; ")} · ${tz}</p>`;
}

const whens: Options = [
  ["every", "At an interval"],
  ["at", "Once"],
  ["cron", "Cron expression"],
];
const whats: Options = [
  ["agentTurn", "Ask the agent"],
  ["systemEvent", "Post a note to the main session"],
  ["exec", "Run a command, without a model"],
];
const deliveries: Options = [
  ["announce", "Announce the result"],
  ["none", "Keep in the history only"],
];
const wakes: Options = [
  ["now", "Immediately"],
  ["next-heartbeat", "With the next heartbeat"],
];
const texts: Readonly<Record<JobDraft["what"], { readonly label: string; readonly about: string }>> = {
  agentTurn: { label: "Message", about: "What to ask the agent each time." },
  systemEvent: { label: "Note", about: "What the main session receives." },
  exec: { label: "Command", about: "Runs under the exec policy of the agent. Its output is the result." },
};

customElements.define("job-form", JobForm);
