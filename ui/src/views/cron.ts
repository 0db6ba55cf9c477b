// The Cron view: the list of jobs, one open job with its history, and the form for a new job.
import { html, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";

import type { App } from "../app.ts";
import { describeNextRun, describeSchedule } from "../cron/describe.ts";
import { badge } from "../parts/badge.ts";
import { drawCaution } from "../parts/caution.ts";
import "../parts/copy-line.ts";
import { LightElement } from "../parts/light-element.ts";
import { drawLoad, Load } from "../parts/load.ts";
import { toHash } from "../route.ts";
import { Watch, type PageState } from "../state.ts";
import type { View } from "../views.ts";
import type { CronJob } from "../../../src/protocol/methods/cron.ts";
import "../parts/job-form.ts";
import "../parts/job-panel.ts";

export const view: View = { draw: (app, [id]) => html`<view-cron .app=${app} .open=${id}></view-cron>` };

/** In the address, instead of the id of a job. */
const newJob = "new";

export class CronView extends LightElement {
  static override properties = { app: { attribute: false }, open: {} };
  declare app: App;
  /** Id of the opened job, or `new`. */
  declare open: string | undefined;
  readonly #state = new Watch<PageState>(this, () => this.app.store);
  readonly #jobs = new Load(this, () => this.app.client.request("cron.list", { includeDisabled: true }));
  readonly #status = new Load(this, () => this.app.client.request("cron.status", {}));
  readonly #unsubscribers: (() => void)[] = [];
  #clock: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    const { client } = this.app;
    this.#unsubscribers.push(client.on("cron", this.#jobs.reload), client.on("page.gap", this.#jobs.reload));
    this.#clock = setInterval(this.#tick, 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const unsubscribe of this.#unsubscribers.splice(0)) unsubscribe();
    clearInterval(this.#clock);
  }

  protected override willUpdate(): void {
    const { epoch } = this.#state.value;
    this.#jobs.want(String(epoch));
    this.#status.want(String(epoch));
  }

  protected override render(): TemplateResult {
    return html`
      <div class="split" ?data-open=${this.open !== undefined}>
        <section class="list-side">
          <h1>Cron</h1>
          ${this.#status.value?.enabled === false ? drawCaution(schedulerOff) : nothing}
          <p><a class="button" href=${toHash("cron", newJob)}>Add a job</a></p>
          ${drawLoad(this.#jobs, "the jobs", ({ jobs }) => this.#drawList(jobs))}
        </section>
        <section class="detail-side" aria-label="Opened job" @changed=${this.#jobs.reload}>
          ${this.#drawDetail()}
        </section>
      </div>
    `;
  }

  /** Reloads while a job runs: the event of its end comes before the list shows it, and an event can be missed. */
  readonly #tick = (): void => {
    this.requestUpdate();
    const isRunning = this.#jobs.value?.jobs.some(({ state }) => state.runningAtMs !== undefined) ?? false;
    if (isRunning && !this.#jobs.isLoading) this.#jobs.reload();
  };

  #drawList(jobs: readonly CronJob[]): TemplateResult {
    if (jobs.length === 0) return drawNone();
    return html`<ul class="tool-list" aria-label="Jobs">
      ${jobs.map((job) => this.#drawRow(job))}
    </ul>`;
  }

  #drawRow(job: CronJob): TemplateResult {
    return html`
      <li>
        <a class="tool-row" href=${toHash("cron", job.id)} aria-current=${job.id === this.open ? "true" : nothing}>
          <span class="tool-line"><span class="strong">${job.name}</span> ${drawState(job)}</span>
          <span class="quiet">${describeSchedule(job.schedule)} · ${describeNextRun(job, Date.now())}</span>
        </a>
      </li>
    `;
  }

  #drawDetail(): TemplateResult {
    if (this.open === undefined)
      return html`<p class="quiet placeholder">Select a job to see what it does and how its runs ended.</p>`;
    const back = html`<a class="back" href=${toHash("cron")}>← All jobs</a>`;
    if (this.open === newJob) return html`${back}<job-form .app=${this.app}></job-form>`;
    const job = this.#jobs.value?.jobs.find(({ id }) => id === this.open);
    if (job !== undefined)
      return html`${back}${keyed(job.id, html`<job-panel .app=${this.app} .job=${job}></job-panel>`)}`;
    return html`${back}${this.#jobs.value === undefined ? nothing : html`<p class="quiet placeholder">This job no longer exists. A job that runs once is removed after it succeeds.</p>`}`;
  }
}

const schedulerOff = {
  text: "The scheduler is off, so no job starts automatically.",
  fix: "openclaw config set cron.enabled true",
};

function drawState({ enabled, state }: CronJob): TemplateResult {
  if (state.runningAtMs !== undefined) return badge("warn", "running");
  if (!enabled) return badge("quiet", "disabled");
  if (state.lastStatus === undefined) return badge("quiet", "new");
  return state.lastStatus === "error" ? badge("bad", "failed") : badge("good", state.lastStatus);
}

function drawNone(): TemplateResult {
  return html`
    <p>No jobs yet. Add one here, or from a terminal:</p>
    <copy-line .text=${"openclaw cron add --name tea --at 20m --system-event 'Remind me: tea'"}></copy-line>
  `;
}

customElements.define("view-cron", CronView);
