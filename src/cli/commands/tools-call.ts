// `openclaw tools call`: calls one tool, through the running gateway or, without one, in this process.
import { createReadingCatalog } from "../../app/catalog.ts";
import { OpenClawError } from "../../core/error.ts";
import { readLockOwner, stateLockOf } from "../../base/lock.ts";
import { subjectOf, type SubjectRequest } from "../../tool/subject.ts";
import type { ToolResult } from "../../tool/tool.ts";
import { withGateway } from "../client.ts";
import { defineCommand, UsageError } from "../command.ts";
import type { Io } from "../io.ts";
import { wholeNumber } from "../parse.ts";
import { safe } from "../print.ts";
import { requireConfigUnless, requireConfig } from "../settings.ts";
import { modelOption, subjectRequest, whoOptions } from "../subject-options.ts";
import { targetOf, wireOptions, type Target } from "../target.ts";
import { readArguments } from "../tool-arguments.ts";
import { printResult } from "../tool-result.ts";

const DEFAULT_TIMEOUT_MS = 30 * 60_000;

interface Call {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly who: SubjectRequest;
  readonly timeoutMs: number;
}

export const command = defineCommand({
  details:
    "Uses the running gateway. If no gateway runs on this machine, the call runs in this process, on the same state. Text goes to stdout, images go to a file whose path is printed.",
  arguments: [
    { name: "tool", description: "Name of the tool." },
    {
      name: "argument",
      description: "One JSON5 object, or key=value pairs, or - for JSON5 from stdin.",
      optional: true,
      many: true,
    },
  ],
  options: {
    ...whoOptions,
    ...modelOption,
    ...wireOptions,
    timeout: { type: "string", value: "ms", description: "How long the tool may take (default: 30 minutes)." },
  },
  examples: [
    { line: "tools call read path=README.md limit=20", does: "as pairs" },
    { line: 'tools call write \'{path: "notes.md", content: "hello"}\'', does: "as JSON5" },
    { line: "tools call sessions_list --json | jq .details", does: "the whole result, as JSON" },
    { line: "tools explain read --schema", does: "the parameters of a tool" },
  ],
  exits: "0 success, 1 the call was refused or failed, also when a command it ran failed, 2 wrong usage",
  async run(io, { options, arguments: [tool = "", ...words] }) {
    await requireConfigUnless(options.url !== undefined, io);
    const call: Call = {
      tool,
      args: await readArguments(words, schemaOf(io, tool)),
      who: subjectRequest(options),
      timeoutMs: wholeNumber("timeout", options.timeout, { min: 1, max: 86_400_000 }) ?? DEFAULT_TIMEOUT_MS,
    };
    const { timeout: _own, ...wire } = options;
    try {
      const result = await callSomewhere(io, await targetOf(io, wire), call);
      await printResult(io, result);
      return result.isError === true ? 1 : 0;
    } catch (error) {
      return refused(io, error);
    }
  },
});

/** The types of the arguments, so that `limit=20` is a number and `content=20` stays text. */
function schemaOf(io: Io, tool: string) {
  return async (): Promise<Readonly<Record<string, unknown>>> => {
    const loaded = await requireConfig(io);
    const verdict = createReadingCatalog(io.paths(), io.env, loaded).judge(subjectOf({}, loaded.config), tool);
    return verdict.tool?.params.properties ?? {};
  };
}

function callSomewhere(io: Io, target: Target, call: Call): Promise<ToolResult> {
  const runsHere = readLockOwner(stateLockOf(io.paths().state))?.port !== undefined;
  return target.isLocal && !runsHere ? callHere(io, call) : callThere(io, target, call);
}

async function callThere(io: Io, target: Target, { tool, args, who, timeoutMs }: Call): Promise<ToolResult> {
  const { agentId, sessionKey, model } = who;
  const params = { tool, args, ...given({ agentId, sessionKey, model }) };
  const answer = await withGateway(io, target, (client) => client.call("tools.invoke", params, { timeoutMs }));
  return answer.result;
}

async function callHere(io: Io, { tool, args, who, timeoutMs }: Call): Promise<ToolResult> {
  const { openOffline } = await import("../../app/offline.ts");
  const runtime = await openOffline(io.env, io.profile);
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  try {
    const subject = subjectOf(who, runtime.settings.now().config);
    return await runtime.callTool({ tool, args, subject, caller: "cli", signal: stopped.signal, timeoutMs });
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
    await runtime.close();
  }
}

/** Prints a refusal with its whole explanation. */
function refused(io: Io, error: unknown): number {
  if (error instanceof UsageError || !(error instanceof OpenClawError)) throw error;
  const explain =
    typeof error.details === "object" && error.details !== null && "explain" in error.details
      ? error.details.explain
      : undefined;
  if (io.json || typeof explain !== "string") throw error;
  io.say(safe(explain));
  return 1;
}

function given(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
