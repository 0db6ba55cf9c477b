// The flags that describe a job, for `cron add` and `cron edit`, as the fields the gateway takes.
import { durationMs } from "../base/duration.ts";
import { UsageError, type Options } from "./command.ts";

export const jobOptions = {
  name: { type: "string", value: "name", description: "What it is called." },
  description: { type: "string", value: "text", description: "What it is for." },
  at: {
    type: "string",
    value: "when",
    description: "Once: ISO time (UTC without a zone), 20m from now, or milliseconds.",
  },
  every: { type: "string", value: "span", description: "Again and again: 30s, 10m, 1h, 1d." },
  cron: { type: "string", value: "expr", description: "By a cron expression of five or six fields." },
  tz: { type: "string", value: "zone", description: "Time zone of --cron, or of an --at without one." },
  session: { type: "string", choices: ["main", "isolated"], description: "Where it runs; follows from what it does." },
  "system-event": { type: "string", value: "text", description: "A line for the main session." },
  message: { type: "string", value: "text", description: "A turn of the agent in a session of its own." },
  exec: { type: "string", value: "command", description: "A command, without a model." },
  workdir: { type: "string", value: "folder", description: "Where the command starts." },
  tool: { type: "string", value: "tool", description: "A tool, without a model." },
  args: { type: "string", value: "json", description: "Its arguments." },
  wake: { type: "string", choices: ["now", "next-heartbeat"], description: "When the main session reads it." },
  agent: { type: "string", value: "id", description: "Whose job it is." },
  model: { type: "string", value: "model", description: "provider/model for its turns." },
  thinking: { type: "string", value: "level", description: "off, minimal, low, medium, high or xhigh." },
  "timeout-seconds": { type: "string", value: "s", description: "Ended after this long." },
  tools: { type: "string", value: "a,b", description: "Only these of the tools it may use." },
  announce: { type: "boolean", description: "Put the result into a chat." },
  deliver: { type: "boolean", description: "The older word for --announce." },
  "no-deliver": { type: "boolean", description: "Put the result nowhere." },
  "best-effort-deliver": { type: "boolean", description: "A result that does not arrive is no failure." },
  channel: { type: "string", value: "id", description: "Which channel; last for where the agent was last spoken to." },
  to: { type: "string", value: "place", description: "Whom or where on that channel." },
  "delete-after-run": { type: "boolean", description: "Remove it after it ran well." },
  "keep-after-run": { type: "boolean", description: "Keep it after it ran." },
  misfire: {
    type: "string",
    value: "rule",
    description: "A missed time: once (made up for), skip, or a span such as 1h.",
  },
} as const satisfies Options;

export type JobFlags = {
  readonly [Name in keyof typeof jobOptions]?: (typeof jobOptions)[Name] extends { type: "boolean" } ? boolean : string;
};

/** Only what was given. Throws UsageError for flags that contradict each other. */
export function jobFields(flags: JobFlags, helpFor: readonly string[]): Record<string, unknown> {
  const { name, description, session, wake, agent, misfire } = flags;
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(session === undefined ? {} : { sessionTarget: session }),
    ...(wake === undefined ? {} : { wakeMode: wake }),
    ...field("schedule", scheduleOf(flags, helpFor)),
    ...field("payload", payloadOf(flags, helpFor)),
    ...field("delivery", deliveryOf(flags, helpFor)),
    ...field("deleteAfterRun", lifeOf(flags, helpFor)),
    ...(misfire === undefined ? {} : { misfire: misfireOf(misfire, helpFor) }),
  };
}

function field(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}

function scheduleOf({ at, every, cron, tz }: JobFlags, helpFor: readonly string[]): unknown {
  if ([at, every, cron].filter((flag) => flag !== undefined).length > 1)
    throw new UsageError("one of --at, --every and --cron, not several", helpFor);
  if (tz !== undefined && cron === undefined && at === undefined)
    throw new UsageError("--tz belongs to --cron or --at", helpFor);
  if (at !== undefined) return { kind: "at", at, ...(tz === undefined ? {} : { tz }) };
  if (cron !== undefined) return { kind: "cron", expr: cron, ...(tz === undefined ? {} : { tz }) };
  if (every === undefined) return undefined;
  const everyMs = durationMs(every);
  if (everyMs === undefined) throw new UsageError(`--every is a span such as 10m or 1h, not ${every}`, helpFor);
  return { kind: "every", everyMs };
}

function payloadOf(flags: JobFlags, helpFor: readonly string[]): unknown {
  const { "system-event": text, message, exec, tool, model, thinking, tools, workdir, args } = flags;
  if ([text, message, exec, tool].filter((flag) => flag !== undefined).length > 1)
    throw new UsageError("one of --system-event, --message, --exec and --tool, not several", helpFor);
  const limit = secondsOf(flags["timeout-seconds"], helpFor);
  const toolsAllow = tools?.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
  const seconds = limit === undefined ? {} : { timeoutSeconds: limit };
  if (text !== undefined) return { kind: "systemEvent", text };
  if (exec !== undefined)
    return { kind: "exec", command: exec, ...field("workdir", workdir), ...field("timeout", limit) };
  if (tool !== undefined) return { kind: "tool", tool, ...field("args", argsOf(args, helpFor)), ...seconds };
  const turn = {
    ...field("model", model),
    ...field("thinking", thinking),
    ...field("toolsAllow", toolsAllow),
    ...seconds,
  };
  if (message !== undefined) return { kind: "agentTurn", message, ...turn };
  return Object.keys(turn).length === 0 ? undefined : { kind: "agentTurn", ...turn };
}

function argsOf(text: string | undefined, helpFor: readonly string[]): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new UsageError(`--args is not JSON: ${error instanceof Error ? error.message : String(error)}`, helpFor);
  }
}

function deliveryOf(flags: JobFlags, helpFor: readonly string[]): unknown {
  const { announce = false, deliver = false, channel, to } = flags;
  const off = flags["no-deliver"] === true;
  if (off && (announce || deliver)) throw new UsageError("--announce or --no-deliver, not both", helpFor);
  const bestEffort = flags["best-effort-deliver"];
  const isMeant = off || announce || deliver || channel !== undefined || to !== undefined || bestEffort === true;
  if (!isMeant) return undefined;
  return {
    mode: off ? "none" : "announce",
    ...field("channel", channel),
    ...field("to", to),
    ...field("bestEffort", bestEffort),
  };
}

function lifeOf(flags: JobFlags, helpFor: readonly string[]): boolean | undefined {
  const [goes, stays] = [flags["delete-after-run"] === true, flags["keep-after-run"] === true];
  if (goes && stays) throw new UsageError("--delete-after-run or --keep-after-run, not both", helpFor);
  return goes ? true : stays ? false : undefined;
}

function misfireOf(word: string, helpFor: readonly string[]): unknown {
  if (word === "once" || word === "skip") return word;
  const windowMs = durationMs(word);
  if (windowMs === undefined) throw new UsageError("--misfire is once, skip or a span such as 1h", helpFor);
  return { windowMs };
}

function secondsOf(word: string | undefined, helpFor: readonly string[]): number | undefined {
  if (word === undefined) return undefined;
  const seconds = Number(word);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new UsageError("--timeout-seconds is a number of seconds above 0", helpFor);
}
