// The options that describe a job, for `cron add` and `cron edit`, and the fields that the gateway expects.
import { durationMs } from "../base/duration.ts";
import { UsageError, type Options } from "./command.ts";

export const jobOptions = {
  name: { type: "string", value: "name", description: "Name of the job." },
  description: { type: "string", value: "text", description: "Purpose of the job." },
  at: {
    type: "string",
    value: "when",
    description: "Run once: ISO time (UTC without a zone), 20m from now, or epoch milliseconds.",
  },
  every: { type: "string", value: "span", description: "Run at this interval: 30s, 10m, 1h, 1d." },
  cron: { type: "string", value: "expr", description: "Run by a cron expression of five or six fields." },
  tz: { type: "string", value: "zone", description: "Time zone of --cron, or of --at without a zone." },
  session: {
    type: "string",
    choices: ["main", "isolated"],
    description: "Session it runs in (default: depends on the action).",
  },
  "system-event": { type: "string", value: "text", description: "Action: post a note to the main session." },
  message: { type: "string", value: "text", description: "Action: ask the agent, in a new session." },
  exec: { type: "string", value: "command", description: "Action: run a shell command, without a model." },
  workdir: { type: "string", value: "folder", description: "Folder to run the command in." },
  tool: { type: "string", value: "tool", description: "Action: call a tool, without a model." },
  args: { type: "string", value: "json", description: "Arguments of the tool, as JSON." },
  wake: { type: "string", choices: ["now", "next-heartbeat"], description: "When the main session reads the note." },
  agent: { type: "string", value: "id", description: "Agent that owns the job (default: the default agent)." },
  model: { type: "string", value: "model", description: "Model for its turns, as provider/model." },
  thinking: {
    type: "string",
    value: "level",
    description: "Thinking level: off, minimal, low, medium, high or xhigh.",
  },
  "timeout-seconds": { type: "string", value: "s", description: "Stop the run after this many seconds." },
  tools: { type: "string", value: "a,b", description: "Limit it to these tools." },
  announce: { type: "boolean", description: "Post the result to a chat." },
  deliver: { type: "boolean", description: "Older name of --announce." },
  "no-deliver": { type: "boolean", description: "Do not post the result." },
  "best-effort-deliver": { type: "boolean", description: "Do not count a failed delivery as a failure of the job." },
  channel: {
    type: "string",
    value: "id",
    description: "Channel for the result; last means the channel of the latest message to the agent.",
  },
  to: { type: "string", value: "place", description: "Recipient or conversation on that channel." },
  "delete-after-run": { type: "boolean", description: "Remove the job after a successful run." },
  "keep-after-run": { type: "boolean", description: "Keep the job after a run." },
  misfire: {
    type: "string",
    value: "rule",
    description: "Missed slot: once (run it later), skip, or a span such as 1h within which to run it.",
  },
} as const satisfies Options;

export type JobFlags = {
  readonly [Name in keyof typeof jobOptions]?: (typeof jobOptions)[Name] extends { type: "boolean" } ? boolean : string;
};

/** Only the given fields. Throws UsageError for options that contradict each other. */
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
    throw new UsageError("--at, --every and --cron exclude each other; give one of them", helpFor);
  if (tz !== undefined && cron === undefined && at === undefined)
    throw new UsageError("--tz requires --cron or --at", helpFor);
  if (at !== undefined) return { kind: "at", at, ...(tz === undefined ? {} : { tz }) };
  if (cron !== undefined) return { kind: "cron", expr: cron, ...(tz === undefined ? {} : { tz }) };
  if (every === undefined) return undefined;
  const everyMs = durationMs(every);
  if (everyMs === undefined) throw new UsageError(`--every must be a span such as 10m or 1h, not ${every}`, helpFor);
  return { kind: "every", everyMs };
}

function payloadOf(flags: JobFlags, helpFor: readonly string[]): unknown {
  const { "system-event": text, message, exec, tool, model, thinking, tools, workdir, args } = flags;
  if ([text, message, exec, tool].filter((flag) => flag !== undefined).length > 1)
    throw new UsageError("--system-event, --message, --exec and --tool exclude each other; give one of them", helpFor);
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
    throw new UsageError(`--args must be JSON: ${error instanceof Error ? error.message : String(error)}`, helpFor);
  }
}

function deliveryOf(flags: JobFlags, helpFor: readonly string[]): unknown {
  const { announce = false, deliver = false, channel, to } = flags;
  const off = flags["no-deliver"] === true;
  if (off && (announce || deliver)) throw new UsageError("--announce and --no-deliver exclude each other", helpFor);
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
  if (goes && stays) throw new UsageError("--delete-after-run and --keep-after-run exclude each other", helpFor);
  return goes ? true : stays ? false : undefined;
}

function misfireOf(word: string, helpFor: readonly string[]): unknown {
  if (word === "once" || word === "skip") return word;
  const windowMs = durationMs(word);
  if (windowMs === undefined) throw new UsageError("--misfire must be once, skip or a span such as 1h", helpFor);
  return { windowMs };
}

function secondsOf(word: string | undefined, helpFor: readonly string[]): number | undefined {
  if (word === undefined) return undefined;
  const seconds = Number(word);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new UsageError("--timeout-seconds must be a number above 0", helpFor);
}
