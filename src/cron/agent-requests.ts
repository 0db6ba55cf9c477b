// Jobs as agents use them: changes within their rights are made immediately, others wait for the owner's approval.
import { isDeepStrictEqual } from "node:util";

import { OpenClawError } from "../core/error.ts";
import { isSubagentKey, sessionKindOf, type AgentId, type SessionKey } from "../core/names.ts";
import { isRecord } from "../core/record.ts";
import type { Clock } from "../base/clock.ts";
import type { Mask } from "../base/mask.ts";
import { mainKeyOf } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import type { ApprovalBroker } from "../approval/broker.ts";
import type { ApprovalHandler } from "../approval/handler.ts";
import type { Approval } from "../approval/record.ts";
import { trustOf } from "../session/provenance.ts";
import type { Wake, WakeMode } from "../session/wake.ts";
import type { Store } from "../store/store.ts";
import type { AgentCron, CronAsker, CronChange, CronChanged } from "./agent-cron.ts";
import { cronCard } from "./card.ts";
import { quoteRecent, withContext } from "./context.ts";
import type { Cron, CronStatus, RunAnswer } from "./cron.ts";
import type { RunEntry } from "./entry.ts";
import type { Job, JobBody } from "./job.ts";
import { normalizePatch } from "./normalize.ts";
import type { OutputPage } from "./outputs.ts";
import { unknownJob } from "./refuse.ts";
import { definitionOf, mayTouch, ownerOnly, reachOf, type RightsContext } from "./rights.ts";

export interface AgentRequestsDeps {
  readonly cron: Cron;
  readonly store: Store;
  readonly clock: Clock;
  readonly config: () => Config;
  readonly broker: Pick<ApprovalBroker, "ask">;
  /** The call that asked for an approval, judged again under the rules in force; throws what a new call would. */
  readonly recallCaller: (asker: unknown) => Promise<CronAsker>;
  readonly notify: Wake["notify"];
  readonly mask: Mask;
  readonly isSandboxed: (session: SessionKey) => boolean;
}

/** Stored with an approval: the change, and what the owner was shown of the job and of the reason. */
interface JobChange {
  readonly change: CronChange;
  readonly reach?: string | undefined;
  readonly job?: JobBody | undefined;
}

/** What the owner is shown of a change. */
interface CardFacts extends Pick<JobChange, "change" | "reach"> {
  readonly asker: CronAsker;
  readonly job: Job | undefined;
}

/** The owner may be away for a day. */
const ASK_MS = 24 * 3_600_000;

export class AgentRequests implements AgentCron {
  readonly #deps: AgentRequestsDeps;
  /** To be registered with the broker. */
  readonly approvals: ApprovalHandler<CardFacts> = {
    name: "cron",
    kind: "config",
    canAllowAlways: false,
    card: ({ change, asker, job, reach }) => cronCard(change, asker, job, reach),
    recheck: (approval) => this.#recheck(approval),
    run: (approval) => this.#carryOut(approval),
    denied: (approval) => this.#report(approval, `not done: ${approval.reason ?? "the owner denied it"}`),
    interrupted: (approval) =>
      this.#report(approval, `interrupted (${approval.reason ?? "cut off"}); cron list shows whether it was done`),
  };

  constructor(deps: AgentRequestsDeps) {
    this.#deps = deps;
  }

  status(): Promise<CronStatus> {
    return this.#deps.cron.status();
  }

  async list(asker: CronAsker, options: { readonly includeDisabled: boolean }): Promise<Job[]> {
    const jobs = await this.#deps.cron.list(options);
    return jobs.filter((job) => mayTouch(job, asker, this.#deps.config()));
  }

  async run(asker: CronAsker, id: string, mode: "force" | "due"): Promise<RunAnswer> {
    await this.#jobFor(asker, id);
    if (!(await this.#isOwners(asker))) throw ownerOnly("start a job by hand");
    return this.#deps.cron.run(id, mode);
  }

  async runs(asker: CronAsker, id: string, limit: number): Promise<RunEntry[]> {
    await this.#jobFor(asker, id);
    return this.#deps.cron.runs(id, limit);
  }

  async output(
    asker: CronAsker,
    id: string,
    slot: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<OutputPage> {
    await this.#jobFor(asker, id);
    return this.#deps.cron.output(id, slot, page);
  }

  async wake({ session, turn }: CronAsker, text: string, mode: WakeMode): Promise<WakeMode> {
    const trust = await trustOf(this.#deps.store, turn);
    const used = mode === "now" && trust === "owner" ? "now" : "next-heartbeat";
    await this.#deps.notify(session, text, used, { untrusted: trust === "untrusted" });
    return used;
  }

  async change(asked: CronChange, asker: CronAsker): Promise<CronChanged> {
    const change = asked.action === "add" ? await this.#inSession(asked, asker) : asked;
    const job = change.action === "add" ? undefined : await this.#jobFor(asker, change.id);
    const reach = reachOf(change, job, asker, this.#rights());
    if (reach === undefined && (await this.#isOwners(asker))) return { done: await this.#perform(change, asker.agent) };
    const body: JobChange = { change, reach, job: job === undefined ? undefined : definitionOf(job) };
    const { agent, session } = asker;
    const request = { agent, session, timeoutMs: ASK_MS, body, asker: await asker.origin?.() };
    const facts = { change, asker, job, reach };
    const { id, expiresAtMs } = await this.#deps.broker.ask(this.approvals, facts, request);
    return { waiting: { approvalId: id, expiresAtMs } };
  }

  /** Throws when the rules in force, or the job by now, are not those that the owner was shown. */
  async #recheck({ body, asker: stored }: Approval): Promise<void> {
    const asker = await this.#deps.recallCaller(stored);
    const { change, reach: shown, job: then } = body as JobChange;
    const job = change.action === "add" ? undefined : await this.#jobFor(asker, change.id);
    if (job !== undefined && !isSameJson(definitionOf(job), then))
      throw new OpenClawError("approval.changed", "the job changed after you were asked; request the change again");
    const reach = reachOf(change, job, asker, this.#rights());
    if (reach !== undefined && reach !== shown)
      throw new OpenClawError("approval.changed", `under the rules now in force ${reach}, which the card did not say`);
  }

  /** Makes the change of an allowed approval, and notifies the session of the outcome. */
  async #carryOut(approval: Approval): Promise<string> {
    const { change } = approval.body as JobChange;
    const outcome = await this.#perform(change, approval.agent as AgentId).then(
      () => "done",
      (error: unknown) => `failed: ${error instanceof Error ? error.message : String(error)}`,
    );
    await this.#report(approval, outcome);
    return outcome;
  }

  async #perform(change: CronChange, agent: AgentId): Promise<unknown> {
    const { cron } = this.#deps;
    switch (change.action) {
      case "add":
        return cron.add(change.job, { agent, session: change.session });
      case "update":
        return cron.update(change.id, change.patch);
      case "remove":
        return cron.remove(change.id);
    }
  }

  /** A job that the asker cannot reach is reported as unknown. */
  async #jobFor(asker: CronAsker, id: string): Promise<Job> {
    const job = await this.#deps.cron.get(id);
    if (mayTouch(job, asker, this.#deps.config())) return job;
    throw unknownJob(id);
  }

  async #isOwners({ turn }: CronAsker): Promise<boolean> {
    return (await trustOf(this.#deps.store, turn)) === "owner";
  }

  #rights(): RightsContext {
    const { config, clock, isSandboxed } = this.#deps;
    return { config: config(), now: clock.now(), isSandboxed };
  }

  async #report({ session, card }: Approval, outcome: string): Promise<void> {
    if (session === null) return;
    await this.#deps.notify(session as SessionKey, this.#deps.mask(`Cron (${card.title}): ${outcome}`));
  }

  /** The note or result of a job that was made in a chat goes to that chat, unless the job says where. */
  async #inSession(
    { job, contextMessages = 0 }: Extract<CronChange, { action: "add" }>,
    { agent, session }: CronAsker,
  ): Promise<CronChange> {
    const { store, config } = this.#deps;
    const raw = normalizePatch(job);
    const { agentId = agent, sessionTarget, delivery } = raw;
    const { channel, to, mode } = isRecord(delivery) ? delivery : {};
    const kind = sessionKindOf(session, mainKeyOf(config()));
    const isChat = (kind === "group" || kind === "other") && !isSubagentKey(session);
    const hasNoTarget = [sessionTarget, channel, to].every((value) => value === undefined) && mode !== "none";
    const record = contextMessages === 0 ? undefined : await store.sessions.get(session);
    const quoted = record === undefined ? "" : await quoteRecent(store.transcript, record, contextMessages);
    return {
      action: "add",
      job: { ...raw, agentId, ...(quoted === "" ? {} : { payload: withContext(raw["payload"], quoted) }) },
      ...(isChat && hasNoTarget && agentId === agent ? { session } : {}),
    };
  }
}

/** Compares as stored: without keys whose value is undefined. */
function isSameJson(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(one ?? null)), JSON.parse(JSON.stringify(other ?? null)));
}
