// Performs one run of a job: a note, a turn, a command or a tool. Never throws.
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../core/error.ts";
import type { RunOutcome } from "../core/event.ts";
import { mainSessionKey, type AgentId, type SessionKey } from "../core/names.ts";
import { agentIds, defaultAgentId, mainKeyOf } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import type { ModelRef } from "../model/model.ts";
import { newSession } from "../session/session.ts";
import type { Together } from "../session/system-events.ts";
import type { JobRecord, SlotRecord, SlotState } from "../store/store.ts";
import { MAX_COMMAND_SECONDS } from "./check.ts";
import type { CronDeps } from "./deps.ts";
import { bodyOf, type JobBody, type Payload } from "./job.ts";
import { refuse } from "./refuse.ts";

export interface Run {
  readonly job: JobRecord;
  /** Has its run id and session. */
  readonly slot: SlotRecord;
  /** It makes up for a slot that was due before this process started. */
  readonly isCatchUp: boolean;
  /** Aborts when the gateway is closing: commands and tools end; agents end their turns. */
  readonly stopping: AbortSignal;
  /** Aborts when ends of runs are no longer stored. */
  readonly closed: AbortSignal;
}

export interface RunEnd {
  readonly state: Exclude<SlotState, "running" | "missed">;
  readonly why?: string;
  readonly error?: string;
  readonly sessionId?: string;
  /** The whole output. */
  readonly text: string;
}

/** A job that makes up for a missed slot after a start must not restart the gateway. */
const NO_RESTART: readonly string[] = ["gateway"];
/** Marks a running row whose note is in the main session. */
export const NOTE_POSTED = "told";
const DEFAULT_TOOL_MS = 30 * 60_000;
const WAKE_MS = 10 * 60_000;
const RECHECK_MS = 1000;

/** Undefined when the next process continues it: it had not begun, or its turn still waits. */
export async function perform(deps: CronDeps, run: Run): Promise<RunEnd | undefined> {
  try {
    return await performKind(deps, run);
  } catch (error) {
    // Rejected at the shutdown: the next process posts it under the same run id.
    if (error instanceof OpenClawError && error.code === "gateway.stopping" && isTurn(run)) return undefined;
    if (run.stopping.aborted) return interrupted;
    if (!(error instanceof OpenClawError)) deps.log.error("a job failed unexpectedly", { error, jobId: run.job.id });
    const message = error instanceof Error ? error.message : String(error);
    const hint = error instanceof OpenClawError && error.hint !== undefined ? ` (${error.hint})` : "";
    return { state: "failed", error: `${message}${hint}`, text: "" };
  }
}

/** The agent of a job, also when that agent no longer exists. */
export function agentOf({ agentId }: JobBody, config: Config): AgentId {
  return agentId ?? defaultAgentId(config);
}

/** A job of a removed agent does not run as the default one, which may have more rights (docs/decisions/0031-unknown-agent-creates-nothing.md). */
function requireAgent({ id, body }: JobRecord, config: Config): void {
  const agent = agentOf(body as JobBody, config);
  if (agentIds(config).includes(agent)) return;
  throw new OpenClawError(
    "cron.no-agent",
    `the agent "${agent}" of this job no longer exists, and no other agent runs it`,
    {
      hint: `openclaw cron edit ${id} --agent <id>, or openclaw cron rm ${id}`,
    },
  );
}

/** Where the note or result of a job goes: the session it was created in while that exists, else the main session. */
export async function homeOf(
  body: JobBody,
  { store, config }: Pick<CronDeps, "store" | "config">,
): Promise<SessionKey> {
  const { sessionKey } = body;
  const exists = sessionKey !== undefined && (await store.sessions.get(sessionKey)) !== undefined;
  return exists ? sessionKey : mainOf(body, config());
}

export function mainOf(body: JobBody, config: Config): SessionKey {
  if (config.session?.scope === "global") return "global" as SessionKey;
  return mainSessionKey(agentOf(body, config), mainKeyOf(config));
}

const isTurn = ({ job }: Run): boolean => bodyOf(job).payload.kind === "agentTurn";

const interrupted: RunEnd = { state: "unknown", why: "the gateway stopped while it ran", text: "" };

async function performKind(deps: CronDeps, run: Run): Promise<RunEnd | undefined> {
  const { payload } = bodyOf(run.job);
  requireAgent(run.job, deps.config());
  switch (payload.kind) {
    case "systemEvent":
      return postNote(deps, run, payload.text);
    case "agentTurn":
      return takeTurn(deps, run, payload);
    case "exec": {
      const { command, workdir, timeout = 1800 } = payload;
      const args = {
        command,
        timeout,
        yieldMs: MAX_COMMAND_SECONDS * 1000,
        // Lets a script recognize a slot that it has already handled.
        env: { CRON_JOB_ID: run.job.id, CRON_SLOT: run.slot.slot },
        ...(workdir === undefined ? {} : { workdir }),
      };
      return useTool(deps, run, "exec", args, (timeout + 30) * 1000);
    }
    case "tool": {
      const timeoutMs = payload.timeoutSeconds === undefined ? DEFAULT_TOOL_MS : payload.timeoutSeconds * 1000;
      return useTool(deps, run, payload.tool, payload.args, timeoutMs);
    }
  }
}

async function postNote(deps: CronDeps, { job, slot, stopping }: Run, text: string): Promise<RunEnd> {
  if (text.trim() === "") return { state: "skipped", why: "the text is empty", text: "" };
  const body = bodyOf(job);
  const main = await homeOf(body, deps);
  // The note and the mark of its row are one step, so that recovery knows whether it was posted.
  const together: Together = async (line) => {
    if (await deps.store.slots.note(slot, NOTE_POSTED, line)) return;
    throw new OpenClawError("cron.ended", "this run has ended already");
  };
  if (body.wakeMode === "next-heartbeat") {
    await deps.wake.notify(main, text, "next-heartbeat", { together });
    return { state: "ran", text };
  }
  const outcome = await deps.wake.notifyAndWait(main, text, WAKE_MS, together).catch(async (error: unknown) => {
    // The note survives a restart, and so does its request for a turn.
    const isKept = stopping.aborted && (await deps.events.peek(main)).some((event) => event.text === text);
    if (!isKept) throw error;
    return undefined;
  });
  if (outcome === undefined) return { state: "ran", why: "posted; no turn has read it yet", text };
  return { ...endOf(outcome), text };
}

async function takeTurn(
  deps: CronDeps,
  run: Run,
  payload: Extract<Payload, { kind: "agentTurn" }>,
): Promise<RunEnd | undefined> {
  const { job, slot, isCatchUp } = run;
  const { name } = bodyOf(job);
  const { message, model, thinking, timeoutSeconds, toolsAllow } = payload;
  const runId = slot.runId ?? "";
  if (toolsAllow !== undefined) await keepLimit(deps, slot.sessionKey as SessionKey, toolsAllow);
  await deps.turns.post({
    runId,
    sessionKey: slot.sessionKey as SessionKey,
    text: `[cron:${job.id} ${promptName(name)}] ${message}`,
    source: "cron",
    authorised: false,
    stamp: true,
    label: `Cron: ${name}`.slice(0, 64).toWellFormed(),
    ...(model === undefined ? {} : { model: await modelRef(model, deps.config()) }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 }),
    ...(toolsAllow === undefined ? {} : { toolsAllow }),
    ...(isCatchUp ? { toolsDeny: NO_RESTART } : {}),
  });
  const outcome = await waitForEnd(deps, runId, run.closed);
  return outcome === undefined ? undefined : endOf(outcome);
}

/** Stored with the session, so that later turns of it have the same tools. */
async function keepLimit({ store, clock }: CronDeps, key: SessionKey, toolsAllow: readonly string[]): Promise<void> {
  await store.sessions.update(key, (current) => {
    const record = current ?? newSession(key, clock.now());
    return { ...record, entry: { ...record.entry, toolsAllow } };
  });
}

/** The name is in brackets in a prompt and must not close them. */
function promptName(name: string): string {
  return name.replaceAll(/[[\]]/g, "");
}

async function waitForEnd(deps: CronDeps, runId: string, signal: AbortSignal): Promise<RunOutcome | undefined> {
  for (;;) {
    const outcome = await deps.turns.wait(runId, 60_000, signal);
    if (outcome !== undefined || signal.aborted) return outcome;
    await sleep(RECHECK_MS, undefined, { ref: false });
  }
}

function endOf({ status, text, failure, sessionId }: RunOutcome): RunEnd {
  const facts = { sessionId, text };
  if (status === "ok") return { state: "ran", ...facts };
  if (failure?.code === "run.interrupted") return { ...facts, state: "unknown", why: failure.message };
  const hint = failure?.hint === undefined ? "" : ` (${failure.hint})`;
  return { ...facts, state: "failed", error: `${failure?.message ?? "the run was stopped"}${hint}` };
}

async function useTool(
  deps: CronDeps,
  { job, slot, stopping, isCatchUp }: Run,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  timeoutMs: number,
): Promise<RunEnd | undefined> {
  // The journal has no entry yet, so the next process can begin it.
  if (stopping.aborted) return undefined;
  const { text, isError } = await deps.runTool({
    tool,
    args,
    agent: agentOf(bodyOf(job), deps.config()),
    session: slot.sessionKey as SessionKey,
    timeoutMs,
    signal: stopping,
    toolsDeny: isCatchUp ? NO_RESTART : [],
  });
  if (!isError) return { state: "ran", text };
  if (stopping.aborted) return interrupted;
  return { state: "failed", error: lastLine(text), text };
}

function lastLine(text: string): string {
  return (text.trim().split("\n").at(-1) ?? "it failed").slice(0, 500).toWellFormed();
}

/** An alias or provider/model; limited to the models that the config lists, if it lists any. */
async function modelRef(name: string, config: Config): Promise<ModelRef> {
  const { aliasesOf, isModelAllowed, parseModelRef } = await import("../model/catalog.ts");
  const isNamed = name.includes("/") || aliasesOf(config).has(name.trim().toLowerCase());
  const ref = isNamed ? parseModelRef(name, config) : undefined;
  if (ref === undefined)
    throw refuse(`payload.model is not a model: ${name.slice(0, 80)}`, "payload.model: provider/model");
  if (isModelAllowed(config, ref)) return ref;
  throw refuse(`model ${name.slice(0, 80)} is not allowed here`, `add it under agents.defaults.models`);
}
