// The engine of jobs, wired: agents, tools and chats as it needs them, and the owner's answers to what others asked for.
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { OpenClawError } from "../core/error.ts";
import { isSubagentKey, sessionKindOf, type AgentId, type SessionKey } from "../core/names.ts";
import { isRecord } from "../core/record.ts";
import { systemClock } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Mask } from "../base/mask.ts";
import { mainKeyOf } from "../config/agents.ts";
import type { CronAsker, CronChange, AgentCron } from "../cron/agent-cron.ts";
import { createCron, type CronEngine } from "../cron/cron.ts";
import type { CronDeps, CronEvent, ToolRun } from "../cron/deps.ts";
import { quoteRecent, withContext } from "../cron/context.ts";
import type { Job, JobBody } from "../cron/job.ts";
import { normalisePatch } from "../cron/normalise.ts";
import { createJobOutputs } from "../cron/outputs.ts";
import { unknownJob } from "../cron/refuse.ts";
import { veiledWords } from "../cron/redact-job.ts";
import type { Approval } from "../approval/record.ts";
import { subjectOf } from "../tool/subject.ts";
import type { ToolCall, ToolResult } from "../tool/tool.ts";
import { cronCard } from "../cron/card.ts";
import { bodyOf, mayTouch, notOwners, reachOf } from "./cron-rights.ts";
import type { CronPorts } from "./cron.ts";
import type { Runtime } from "./runtime.ts";
import { trustOf } from "../session/provenance.ts";

export interface CronRuntime {
  readonly engine: CronEngine;
  readonly door: AgentCron;
  /** A question about a job was answered, or its time was over. */
  answered(approval: Approval): Promise<void>;
  /** Throws when the rules in force, or the job by now, are not those the owner was asked under. */
  recheck(approval: Approval, call: ToolCall): Promise<void>;
}

/** What is kept with the question: the change, and what the owner was shown of the job and of why. */
interface JobChange {
  readonly change: CronChange;
  readonly reach?: string | undefined;
  readonly job?: JobBody | undefined;
}

export interface EnginePorts extends CronPorts {
  readonly log: Log;
  readonly olderFile: string;
  readonly isSkipped: boolean;
}

/** The owner may be away. */
const ASK_MS = 24 * 3_600_000;

export function openCronRuntime(runtime: Runtime, ports: EnginePorts): CronRuntime {
  const { store, settings, commands, mask } = runtime;
  const { broker } = commands;
  const config = () => settings.now().config;
  const deps: CronDeps = {
    store,
    clock: systemClock,
    log: ports.log,
    config,
    turns: runtime.services.turns(),
    wake: runtime.services.wake(),
    events: commands.events,
    outbound: ports.outbound,
    runTool: (run) => runTool(runtime, run),
    emit: (event) => ports.broadcast(forEverybody(event, mask)),
    outputs: createJobOutputs(join(runtime.paths.state, "cron", "output")),
    olderFile: ports.olderFile,
    isSkipped: ports.isSkipped,
  };
  const engine = createCron(deps);

  const door: AgentCron = {
    status: () => engine.status(),
    list: async (asker, options) => (await engine.list(options)).filter((job) => mayTouch(job, asker, config())),
    async run(asker, id, mode) {
      await touched(id, asker);
      if ((await trustOf(store, asker.turn)) === "owner") return engine.run(id, mode);
      throw notOwners("a job is started by hand");
    },
    async runs(asker, id, limit) {
      await touched(id, asker);
      return engine.runs(id, limit);
    },
    async output(asker, id, slot, page) {
      await touched(id, asker);
      return engine.output(id, slot, page);
    },
    async wake({ session, turn }, text, mode) {
      const trust = await trustOf(store, turn);
      const used = mode === "now" && trust === "owner" ? "now" : "next-heartbeat";
      await runtime.services.wake().tell(session, text, used, { untrusted: trust === "untrusted" });
      return used;
    },
    async change(asked, asker) {
      const change = asked.action === "add" ? await fromSession(asked, asker, runtime) : asked;
      const job = change.action === "add" ? undefined : await touched(change.id, asker);
      const reach = reachOf(change, job, asker, config(), systemClock.now());
      if (reach === undefined && (await trustOf(store, asker.turn)) === "owner")
        return { done: await perform(change, asker) };
      const card = cronCard(change, asker, job, reach);
      const { agent, session } = asker;
      const request = { id: `${newId()}-cron`, kind: "config" as const, agent, session, timeoutMs: ASK_MS };
      const body: JobChange = { change, reach, job: job === undefined ? undefined : bodyOf(job) };
      const { id: approvalId, expiresAtMs } = await broker.ask({
        ...request,
        body,
        asker: await asker.origin?.(),
        card,
      });
      return { waiting: { approvalId, expiresAtMs } };
    },
  };

  return {
    engine,
    door,
    async recheck({ body }, call) {
      const { change, reach: shown, job: then } = (body ?? {}) as Partial<JobChange>;
      if (change === undefined) return;
      const asker: CronAsker = { ...call, allows: (tool) => call.allows(tool) };
      const job = change.action === "add" ? undefined : await touched(change.id, asker);
      if (job !== undefined && !isSameJson(bodyOf(job), then))
        throw new OpenClawError("approval.changed", "the job was changed since this was asked; ask again");
      const reach = reachOf(change, job, asker, config(), systemClock.now());
      if (reach !== undefined && reach !== shown)
        throw new OpenClawError(
          "approval.changed",
          `under the rules now in force ${reach}, which the card did not say`,
        );
    },
    async answered(approval) {
      const { id, state, agent, session, body } = approval;
      const { change } = (body ?? {}) as { change?: CronChange };
      // Begun by a process that ended in it.
      if (state === "done")
        return tell(approval, `it may be done or not (${approval.reason ?? "cut off"}): see cron list`);
      if (state !== "allowed" || change === undefined)
        return tell(
          approval,
          `not done: ${approval.reason ?? (state === "expired" ? "nobody answered" : "the owner said no")}`,
        );
      if (!(await broker.begin(id, { agent, session }))) return;
      const outcome = await perform(change, { agent: agent as AgentId }).then(
        () => "done",
        (error: unknown) => `failed: ${error instanceof Error ? error.message : String(error)}`,
      );
      await broker.finish(id, outcome);
      await tell(approval, outcome);
    },
  };

  async function perform(change: CronChange, { agent }: Pick<CronAsker, "agent">): Promise<unknown> {
    switch (change.action) {
      case "add":
        return engine.add(change.job, { agent, session: change.session });
      case "update":
        return engine.update(change.id, change.patch);
      case "remove":
        return engine.remove(change.id);
    }
  }

  /** One of an agent that the asker may not talk with is not there. */
  async function touched(id: string, asker: CronAsker): Promise<Job> {
    const job = await engine.get(id);
    if (mayTouch(job, asker, config())) return job;
    throw unknownJob(id);
  }

  async function tell({ session, card }: Approval, outcome: string): Promise<void> {
    if (session === null) return;
    await runtime.services.wake().tell(session as SessionKey, mask(`Cron (${card.title}): ${outcome}`));
  }
}

/** Compared as it is kept: without keys that hold nothing. */
function isSameJson(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(one ?? null)), JSON.parse(JSON.stringify(other ?? null)));
}

/** A job made in a chat belongs to it: its line or result goes there, unless the job says where. */
async function fromSession(
  { job, contextMessages = 0 }: Extract<CronChange, { action: "add" }>,
  { agent, session }: CronAsker,
  { store, settings }: Runtime,
): Promise<CronChange> {
  const raw = normalisePatch(job);
  const { agentId = agent, sessionTarget, delivery } = raw;
  const { channel, to, mode } = isRecord(delivery) ? delivery : {};
  const kind = sessionKindOf(session, mainKeyOf(settings.now().config));
  const isChat = (kind === "group" || kind === "other") && !isSubagentKey(session);
  const isFree = [sessionTarget, channel, to].every((value) => value === undefined) && mode !== "none";
  const record = contextMessages === 0 ? undefined : await store.sessions.get(session);
  const quoted = record === undefined ? "" : await quoteRecent(store.transcript, record, contextMessages);
  return {
    action: "add",
    job: { ...raw, agentId, ...(quoted === "" ? {} : { payload: withContext(raw["payload"], quoted) }) },
    ...(isChat && isFree && agentId === agent ? { session } : {}),
  };
}

/** Events reach every client, also those that may only look. */
function forEverybody({ error, summary, ...event }: CronEvent, mask: Mask): CronEvent {
  return {
    ...event,
    ...(error === undefined ? {} : { error: veiledWords(error, mask) }),
    ...(summary === undefined ? {} : { summary: veiledWords(summary, mask) }),
  };
}

/** The one path of every tool call; nobody waits beside a job to answer a question. */
async function runTool(runtime: Runtime, run: ToolRun): Promise<{ text: string; isError: boolean }> {
  const { tool, args, agent, session, timeoutMs, signal, toolsDeny } = run;
  const subject = subjectOf({ sessionKey: session, agentId: agent }, runtime.settings.now().config);
  const limits =
    toolsDeny.length === 0 ? {} : { limits: [{ path: "a job that makes up for a missed time", deny: toolsDeny }] };
  const result = await runtime.callTool({
    tool,
    args,
    subject: { ...subject, ...limits },
    caller: "cron",
    signal,
    timeoutMs,
  });
  const { status, approvalId } = (result.details ?? {}) as { status?: unknown; approvalId?: unknown };
  if (status !== "approval-pending") return { text: textOf(result), isError: result.isError === true };
  if (typeof approvalId === "string")
    await runtime.commands.broker.withdraw(approvalId, "a job does not wait for an answer");
  return {
    text: "it would have to wait for a person's yes, and a job does not wait: openclaw approvals allowlist add",
    isError: true,
  };
}

function textOf({ content }: ToolResult): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
