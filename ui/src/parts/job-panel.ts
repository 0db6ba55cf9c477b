// One job: what it does and when, buttons to run, disable and remove it, and its history.
import { html, nothing, type TemplateResult } from "lit";

import { visible } from "../../../src/core/visible.ts";
import type { App } from "../app.ts";
import {
  describeDelivery,
  describeNextRun,
  describePayload,
  describeRun,
  describeSchedule,
  timeZoneOf,
} from "../cron/describe.ts";
import { toHash } from "../route.ts";
import { Watch, type PageState } from "../state.ts";
import type { CronJob, CronRunEntry, CronRuns } from "../../../src/protocol/methods/cron.ts";
import { formatAge, formatDate, formatElapsed } from "../format.ts";
import { badge, type Tone } from "./badge.ts";
import { drawFailure } from "./failure.ts";
import { LightElement } from "./light-element.ts";
import { drawLoad, Load } from "./load.ts";

const shown = 50;
/** The answer comes at the end of the run; the history records it even when the page stopped waiting. */
const runAnswerMs = 60 * 60_000;

export class JobPanel extends LightElement {
  static override properties = {
    app: { attribute: false },
    job: { attribute: false },
    busy: { state: true },
    isAsking: { state: true },
    notice: { state: true },
    error: { state: true },
  };
  declare app: App;
  declare job: CronJob;
  /** The request in progress. */
  declare busy: "run" | "switch" | "remove" | undefined;
  declare isAsking: boolean;
  declare notice: string | undefined;
  declare error: unknown;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  readonly #runs = new Load(
    this,
    async () => (await this.app.client.request("cron.runs", { id: this.job.id, limit: shown })) as CronRuns,
  );
  #end: (() => void) | undefined;

  constructor() {
    super();
    this.isAsking = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#end = this.app.client.on("cron", this.#runs.reload);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#end?.();
  }

  protected override willUpdate(): void {
    this.#runs.want(String(this.#state.value.epoch));
  }

  protected override render(): TemplateResult {
    const { job } = this;
    return html`
      <article class="panel">
        <h2 class="tool-title">${job.name} ${job.enabled ? badge("good", "enabled") : badge("quiet", "disabled")}</h2>
        ${job.description === undefined ? nothing : html`<p>${job.description}</p>`} ${drawFacts(job)}
        <pre class="output" tabindex="0" aria-label="Text of the job">${describePayload(job).text}</pre>
        ${this.#drawActions()}
        <div aria-live="polite">
          ${this.notice === undefined ? nothing : html`<p class="note quiet" role="status">${this.notice}</p>`}
          ${this.error === undefined ? nothing : drawFailure(this.error)}
        </div>
        <section class="run" aria-label="History">
          <h3>History</h3>
          ${drawLoad(this.#runs, "the runs", ({ entries }) =>
            entries.length === 0
              ? html`<p class="quiet">No runs yet.</p>`
              : html`<ul class="rows">
                  ${entries.toReversed().map(drawRun)}
                </ul>`,
          )}
        </section>
      </article>
    `;
  }

  #drawActions(): TemplateResult {
    const { job, busy } = this;
    if (this.isAsking)
      return html`
        <div class="actions" role="alertdialog" aria-label=${`Remove ${job.name}?`}>
          <span>Remove this job? Its past runs stay in the history for a while.</span>
          <button class="button primary" type="button" ?disabled=${busy !== undefined} @click=${this.#remove}>
            Remove
          </button>
          <button class="button" type="button" @click=${this.#ask}>Cancel</button>
        </div>
      `;
    const isRunning = busy === "run" || job.state.runningAtMs !== undefined;
    return html`
      <div class="actions">
        <button class="button primary" type="button" ?disabled=${isRunning} @click=${this.#run}>
          ${isRunning ? "Running …" : "Run now"}
        </button>
        <button class="button" type="button" ?disabled=${busy === "switch"} @click=${this.#switch}>
          ${job.enabled ? "Disable" : "Enable"}
        </button>
        <button class="button" type="button" @click=${this.#ask}>Remove</button>
      </div>
    `;
  }

  readonly #ask = async (): Promise<void> => {
    this.isAsking = !this.isAsking;
    await this.updateComplete;
    this.querySelector<HTMLElement>(".actions .button:last-child")?.focus();
  };

  readonly #run = (): Promise<void> =>
    this.#act("run", async () => {
      const { ran } = await this.app.client.request("cron.run", { id: this.job.id, mode: "force" }, runAnswerMs);
      return ran ? "The run has ended; see the history below." : "This job is already running.";
    });

  readonly #switch = (): Promise<void> =>
    this.#act("switch", async () => {
      const enabled = !this.job.enabled;
      await this.app.client.request("cron.update", { id: this.job.id, patch: { enabled } });
      return enabled ? "Enabled." : "Disabled: it runs only when you start it.";
    });

  readonly #remove = (): Promise<void> =>
    this.#act("remove", async () => {
      await this.app.client.request("cron.remove", { id: this.job.id });
      location.hash = toHash("cron");
      return undefined;
    });

  async #act(busy: NonNullable<JobPanel["busy"]>, step: () => Promise<string | undefined>): Promise<void> {
    this.busy = busy;
    this.notice = undefined;
    this.error = undefined;
    try {
      this.notice = await step();
    } catch (error) {
      this.error = error;
    }
    if (this.busy === busy) this.busy = undefined;
    this.dispatchEvent(new CustomEvent("changed", { bubbles: true }));
  }
}

function drawFacts(job: CronJob): TemplateResult {
  const { state } = job;
  const facts: readonly (readonly [name: string, value: string | undefined])[] = [
    ["When", describeSchedule(job.schedule)],
    [
      "Next",
      state.nextRunAtMs === undefined || state.runningAtMs !== undefined
        ? describeNextRun(job, Date.now())
        : `${describeNextRun(job, Date.now())}, ${formatDate(state.nextRunAtMs, timeZoneOf(job))}`,
    ],
    ["Action", visible(describePayload(job).what)],
    ["Agent", job.agentId === undefined ? "default" : visible(job.agentId, 80)],
    ["Result", describeDelivery(job)],
    [
      "Failures",
      state.consecutiveErrors === undefined || state.consecutiveErrors === 0
        ? undefined
        : state.consecutiveErrors === 1
          ? "last run"
          : `last ${state.consecutiveErrors} runs`,
    ],
  ];
  return html`<dl class="facts">
    ${facts.map(([name, value]) =>
      value === undefined
        ? nothing
        : html`<dt>${name}</dt>
            <dd>${value}</dd>`,
    )}
  </dl>`;
}

function drawRun(run: CronRunEntry): TemplateResult {
  const details = describeRun(run);
  return html`
    <li class="row">
      <div>
        ${badge(tones[run.status], run.state)}
        <span title=${formatDate(run.runAtMs)}>${formatAge(run.runAtMs, Date.now())}</span>
        <span class="quiet">took ${formatElapsed(run.durationMs)}${details === "" ? "" : ` · ${details}`}</span>
        ${run.summary === "" ? nothing : html`<pre class="plain">${run.summary}</pre>`}
        ${run.error === undefined ? nothing : html`<div class="issue">${run.error}</div>`}
      </div>
      ${run.sessionKey === undefined ? nothing : html`<a href=${toHash("chat", run.sessionKey)}>Open session</a>`}
    </li>
  `;
}

const tones: Readonly<Record<CronRunEntry["status"], Tone>> = { ok: "good", error: "bad", skipped: "quiet" };

customElements.define("job-panel", JobPanel);
