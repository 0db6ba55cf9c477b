// /status: the state of this session on one card.
import { agentConfig } from "../../config/agents.ts";
import { dollars, whole } from "../figures.ts";
import { answered, overrideOf, refText, type Command, type CommandRun } from "../command-run.ts";
import { queueText } from "./queue.ts";
import { currentThinking } from "./think.ts";

export const status: Command = {
  name: "status",
  summary: "Model, tokens, levels, queue and sandbox of this session",
  shortcut: true,
  async answer(_args, commandRun) {
    const lines = [
      `OpenClaw ${commandRun.deps.version}`,
      await sessionLine(commandRun),
      await modelLine(commandRun),
      await tokenLine(commandRun),
      await usageLine(commandRun),
      await levelLine(commandRun),
      `Queue: ${await queueText(commandRun)}; ${runsText(commandRun)}`,
      await sandboxLine(commandRun),
      overrideLine(commandRun),
    ];
    return answered(lines.filter((line) => line !== undefined).join("\n"));
  },
};

async function sessionLine(commandRun: CommandRun): Promise<string> {
  const record = await commandRun.session();
  const { sessionKey } = commandRun.context;
  if (record === undefined) return `Session: ${sessionKey} (no messages yet)`;
  return `Session: ${sessionKey}, last used ${new Date(record.updatedAt).toISOString()}`;
}

async function modelLine(commandRun: CommandRun): Promise<string> {
  const model = await commandRun.model();
  if (model === undefined) return "Model: none; add one with: openclaw configure --section model";
  const chosen = overrideOf(await commandRun.entry()) !== undefined;
  return `Model: ${refText(model)}${chosen ? " (chosen for this session)" : ""}`;
}

async function tokenLine(commandRun: CommandRun): Promise<string> {
  const entry = await commandRun.entry();
  const model = await commandRun.model();
  const window =
    entry.contextTokens ?? (model === undefined ? undefined : commandRun.deps.models.facts(model).contextWindow);
  const used = entry.totalTokens ?? 0;
  const share =
    window === undefined || window === 0 ? "" : ` of ${whole(window)} (${Math.round((used / window) * 100)}%)`;
  return `Context: ${whole(used)}${share} tokens, compacted ${entry.compactionCount ?? 0} times`;
}

async function usageLine(commandRun: CommandRun): Promise<string> {
  const entry = await commandRun.entry();
  const total = await commandRun.deps.usage?.session(commandRun.context.sessionKey);
  if (total === undefined)
    return `Used: ${whole(entry.inputTokens ?? 0)} tokens in, ${whole(entry.outputTokens ?? 0)} out`;
  return `Used: ${whole(total.input)} tokens in, ${whole(total.output)} out, ${dollars(total.costUsd)}`;
}

/** Verbose and elevated are named only when they are on. */
async function levelLine(commandRun: CommandRun): Promise<string> {
  const { verboseLevel, reasoningLevel, elevatedLevel } = await commandRun.entry();
  const verbose = verboseLevel ?? commandRun.config.agents?.defaults?.verboseDefault ?? "off";
  const parts = [
    `Thinking: ${await currentThinking(commandRun)}`,
    `reasoning: ${reasoningLevel ?? "off"}`,
    ...(verbose === "off" ? [] : [`verbose: ${verbose}`]),
    ...(elevatedLevel === undefined || elevatedLevel === "off" ? [] : [`elevated=${elevatedLevel}`]),
  ];
  return parts.join(", ");
}

function runsText({ deps, context: { sessionKey, runId } }: CommandRun): string {
  const count = deps
    .agents()
    .active(sessionKey)
    .filter((active) => active !== runId).length;
  return count === 0 ? "nothing running" : `${count} running or waiting`;
}

/** What /debug put over the config, by path: a value may be a secret. */
function overrideLine({ deps }: CommandRun): string | undefined {
  const paths = (deps.overrides?.() ?? []).map(({ path }) => path);
  return paths.length === 0 ? undefined : `Overridden until the next restart: ${paths.join(", ")}`;
}

async function sandboxLine(commandRun: CommandRun): Promise<string> {
  const { agentId } = commandRun.context;
  const { config } = commandRun;
  const mode = agentConfig(config, agentId)?.sandbox?.mode ?? config.agents?.defaults?.sandbox?.mode ?? "off";
  const { sandboxed } = await commandRun.subject();
  if (sandboxed) return `Sandbox: on for this session (mode ${mode}); tools never run on this computer`;
  if (mode === "off") return "Sandbox: OFF; tools act on this computer with your rights";
  return `Sandbox: off for this session (mode ${mode}); tools act on this computer with your rights`;
}
