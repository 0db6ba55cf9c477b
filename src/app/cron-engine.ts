// Wires the cron engine to agents, tools, approvals and chats; loaded with the first job.
import { join } from "node:path";

import { systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Outbound } from "../channel/outbound.ts";
import { AgentRequests } from "../cron/agent-requests.ts";
import { CronService, type CronEngine } from "../cron/cron.ts";
import type { CronEvent, ToolRun } from "../cron/deps.ts";
import { createJobOutputs } from "../cron/outputs.ts";
import { redactEvent } from "../cron/redact-job.ts";
import { subjectOf } from "../tool/subject.ts";
import type { ToolResult } from "../tool/tool.ts";
import type { Runtime } from "./runtime.ts";

export interface CronRuntime {
  readonly engine: CronEngine;
  readonly requests: AgentRequests;
}

export interface CronPorts {
  readonly outbound: Outbound;
  readonly broadcast: (event: CronEvent) => void;
}

export interface EnginePorts extends CronPorts {
  readonly log: Log;
  readonly olderFile: string;
  readonly isSkipped: boolean;
}

export function openCronRuntime(runtime: Runtime, ports: EnginePorts): CronRuntime {
  const { store, settings, commands, mask } = runtime;
  const config = () => settings.now().config;
  const engine = new CronService({
    store,
    clock: systemClock,
    log: ports.log,
    config,
    turns: runtime.services.turns(),
    wake: runtime.services.wake(),
    events: commands.events,
    outbound: ports.outbound,
    runTool: (run) => runTool(runtime, run),
    emit: (event) => ports.broadcast(redactEvent(event, mask)),
    outputs: createJobOutputs(join(runtime.paths.state, "cron", "output")),
    olderFile: ports.olderFile,
    isSkipped: ports.isSkipped,
  });
  const requests = new AgentRequests({
    cron: engine,
    store,
    clock: systemClock,
    config,
    broker: commands.broker,
    recallCaller: runtime.recallTool,
    notify: (...args) => runtime.services.wake().notify(...args),
    mask,
    isSandboxed: (sessionKey) => subjectOf({ sessionKey }, config()).sandboxed,
  });
  return { engine, requests };
}

/** A scheduled job cannot wait for approval: a question that the call raised is withdrawn. */
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
    await runtime.commands.broker.withdraw(approvalId, "a scheduled job cannot wait for an answer");
  return {
    text: "needs approval, and a scheduled job cannot wait for one. Allow it with: openclaw approvals allowlist add",
    isError: true,
  };
}

function textOf({ content }: ToolResult): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
