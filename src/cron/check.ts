// Checks a normalized job: every field typed, kinds that fit together, no unknown keys. Throws `cron.invalid`.
import { thinkingLevels } from "../core/thinking-level.ts";
import { nearest } from "../core/nearest.ts";
import { parseAgentId, type AgentId } from "../core/names.ts";
import { withoutUnseen } from "../core/visible.ts";
import { isRecord } from "../core/record.ts";
import { agentIds } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { checkSchedule } from "./check-schedule.ts";
import type { JobBody, JobDelivery, Misfire, Payload } from "./job.ts";
import type { Raw } from "./normalize.ts";
import { given, refuse, requireKnownKeys } from "./refuse.ts";

const MAX_NAME = 120;
const MAX_TEXT = 64_000;
/** Limit of a note to a session. */
const MAX_LINE = 4_000;
const MAX_COMMAND = 100_000;
const MAX_RUN_SECONDS = 7 * 86_400;
/** A longer command belongs in the background. */
export const MAX_COMMAND_SECONDS = 3_600;
const knownKeys = [
  "name",
  "description",
  "agentId",
  "enabled",
  "deleteAfterRun",
  "schedule",
  "sessionTarget",
  "wakeMode",
  "payload",
  "delivery",
  "misfire",
];

export function checkJob(raw: Raw, config: Config, now: number, mayBePast = false): JobBody {
  requireKnownKeys(raw, knownKeys, "a job");
  const payload = checkPayload(raw["payload"]);
  const sessionTarget = oneOf(raw["sessionTarget"], ["main", "isolated"] as const, "sessionTarget");
  checkTogether(sessionTarget, payload, raw["delivery"]);
  const { description, agentId, deleteAfterRun, delivery, misfire } = raw;
  return {
    name: nameOf(raw["name"], payload),
    ...(description === undefined || description === null || description === ""
      ? {}
      : { description: text(description, "description", 2000) }),
    ...(agentId === undefined || agentId === null || agentId === "" ? {} : { agentId: checkAgent(agentId, config) }),
    enabled: flag(raw["enabled"], "enabled"),
    ...(deleteAfterRun === undefined ? {} : { deleteAfterRun: flag(deleteAfterRun, "deleteAfterRun") }),
    schedule: checkSchedule(raw["schedule"], now, mayBePast),
    sessionTarget,
    wakeMode: oneOf(raw["wakeMode"], ["now", "next-heartbeat"] as const, "wakeMode"),
    payload,
    ...(sessionTarget === "main" || delivery === undefined ? {} : { delivery: checkDelivery(delivery) }),
    ...(misfire === undefined || misfire === null ? {} : { misfire: checkMisfire(misfire) }),
  };
}

function checkTogether(target: string, payload: Payload, delivery: unknown): void {
  if (target === "main" && payload.kind !== "systemEvent")
    throw refuse(
      `a job for the main session takes a systemEvent, not ${payload.kind}`,
      'sessionTarget: "isolated", or payload: {kind: "systemEvent", text}',
    );
  if (target === "isolated" && payload.kind === "systemEvent")
    throw refuse(
      "an isolated job takes an agentTurn, exec or tool, not a systemEvent",
      'sessionTarget: "main", or payload: {kind: "agentTurn", message}',
    );
  if (target === "main" && isRecord(delivery) && delivery["mode"] !== "none")
    throw refuse("a job for the main session delivers nothing: the session answers itself", "leave out delivery");
}

/** One line without control characters or markup; derived from the payload when it is missing. */
export function nameOf(given: unknown, payload: Payload): string {
  if (given !== undefined && typeof given !== "string") throw refuse("name must be a text", "name");
  const source = given === undefined || given.trim() === "" ? wordsOf(payload) : given;
  const line = withoutUnseen(source.toWellFormed().replaceAll(escapes, "").replaceAll(/\s+/g, " ")).trim();
  const name = line.length <= MAX_NAME ? line : `${line.slice(0, MAX_NAME - 1).toWellFormed()}…`;
  if (name === "") throw refuse("name has no visible character", "name");
  return name;
}

// Removes whole escape sequences; without their first character the rest would stay as text.
// oxlint-disable-next-line no-control-regex
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g;

function wordsOf(payload: Payload): string {
  switch (payload.kind) {
    case "systemEvent":
      return payload.text.slice(0, 60) || "empty";
    case "agentTurn":
      return payload.message.slice(0, 60);
    case "exec":
      return payload.command.slice(0, 60);
    case "tool":
      return payload.tool;
  }
}

const payloadForms =
  'payload: {kind: "systemEvent", text}, {kind: "agentTurn", message}, {kind: "exec", command} or {kind: "tool", tool, args}';

function checkPayload(given: unknown): Payload {
  if (!isRecord(given))
    throw refuse(given === undefined ? 'missing "payload"' : "payload must be an object", payloadForms);
  switch (given["kind"]) {
    case "systemEvent":
      only(given, ["kind", "text"]);
      return { kind: "systemEvent", text: text(given["text"], "payload.text", MAX_LINE, true) };
    case "agentTurn":
      return checkTurn(given);
    case "exec":
      return checkExec(given);
    case "tool":
      return checkTool(given);
    default:
      throw refuse("payload.kind must be systemEvent, agentTurn, exec or tool", payloadForms);
  }
}

function checkTurn(raw: Raw): Payload {
  only(raw, ["kind", "message", "model", "thinking", "timeoutSeconds", "toolsAllow"]);
  const { model, thinking, timeoutSeconds, toolsAllow } = raw;
  return {
    kind: "agentTurn",
    message: text(raw["message"], "payload.message", MAX_TEXT),
    ...(isUnset(model) ? {} : { model: text(model, "payload.model", 200) }),
    ...(isUnset(thinking) ? {} : { thinking: oneOf(thinking, thinkingLevels, "payload.thinking") }),
    ...(isUnset(timeoutSeconds) ? {} : { timeoutSeconds: seconds(timeoutSeconds, "payload.timeoutSeconds") }),
    ...(isUnset(toolsAllow) ? {} : { toolsAllow: names(toolsAllow, "payload.toolsAllow") }),
  };
}

function checkExec(raw: Raw): Payload {
  only(raw, ["kind", "command", "workdir", "timeout", "timeoutSeconds"]);
  const { workdir, timeout = raw["timeoutSeconds"] } = raw;
  const limit = isUnset(timeout) ? undefined : seconds(timeout, "payload.timeout");
  if (limit !== undefined && limit > MAX_COMMAND_SECONDS)
    throw refuse(`payload.timeout is at most ${MAX_COMMAND_SECONDS} seconds`, "payload.timeout");
  return {
    kind: "exec",
    command: text(raw["command"], "payload.command", MAX_COMMAND),
    ...(isUnset(workdir) ? {} : { workdir: text(workdir, "payload.workdir", 4096) }),
    ...(limit === undefined ? {} : { timeout: limit }),
  };
}

function checkTool(raw: Raw): Payload {
  only(raw, ["kind", "tool", "args", "timeoutSeconds"]);
  const { args = {}, timeoutSeconds } = raw;
  if (!isRecord(args)) throw refuse("payload.args must be an object", "payload.args: {}");
  return {
    kind: "tool",
    tool: text(raw["tool"], "payload.tool", 100),
    args,
    ...(isUnset(timeoutSeconds) ? {} : { timeoutSeconds: seconds(timeoutSeconds, "payload.timeoutSeconds") }),
  };
}

function checkDelivery(given: unknown): JobDelivery {
  if (!isRecord(given)) throw refuse("delivery must be an object", 'delivery: {mode: "announce"}');
  requireKnownKeys(given, ["mode", "channel", "to", "bestEffort"], "delivery");
  const { mode = "announce", channel, to, bestEffort } = given;
  return {
    mode: oneOf(mode, ["announce", "none"] as const, "delivery.mode"),
    ...(isUnset(channel) ? {} : { channel: text(channel, "delivery.channel", 100) }),
    ...(isUnset(to) ? {} : { to: text(to, "delivery.to", 500) }),
    ...(isUnset(bestEffort) ? {} : { bestEffort: flag(bestEffort, "delivery.bestEffort") }),
  };
}

function checkMisfire(given: unknown): Misfire {
  if (given === "once" || given === "skip") return given;
  const windowMs = isRecord(given) ? given["windowMs"] : undefined;
  if (typeof windowMs === "number" && Number.isFinite(windowMs) && windowMs >= 0)
    return { windowMs: Math.round(windowMs) };
  throw refuse("misfire must be once, skip or {windowMs}", 'misfire: "once"');
}

/** An unknown agent is rejected (docs/decisions/0031-unknown-agent-creates-nothing.md). */
function checkAgent(given: unknown, config: Config): AgentId {
  if (typeof given !== "string") throw refuse("agentId must be a text", "agentId");
  const id = parseAgentId(given);
  const known = agentIds(config);
  if (known.includes(id)) return id;
  const near = nearest(id, known);
  throw refuse(
    `there is no agent "${id}"; known: ${known.join(", ")}`,
    near === undefined ? "add it under agents.list in the config" : `did you mean ${near}?`,
  );
}

const isUnset = (value: unknown): boolean => value === undefined || value === null || value === "";

function text(value: unknown, name: string, maxChars: number, mayBeEmpty = false): string {
  if (typeof value !== "string" || (!mayBeEmpty && value.trim() === "")) throw refuse(`${name} must be a text`, name);
  if (value.length > maxChars) throw refuse(`${name} is longer than ${maxChars} characters`, name);
  if (value.includes("\0") || !value.isWellFormed()) throw refuse(`${name} is not well-formed text`, name);
  return value;
}

function flag(value: unknown, name: string): boolean {
  if (typeof value !== "boolean") throw refuse(`${name} must be true or false, not ${given(value)}`, name);
  return value;
}

function seconds(value: unknown, name: string): number {
  if (typeof value === "number" && Number.isFinite(value) && value > 0 && value <= MAX_RUN_SECONDS) return value;
  throw refuse(`${name} must be a number of seconds above 0, at most ${MAX_RUN_SECONDS}, not ${given(value)}`, name);
}

function names(value: unknown, name: string): readonly string[] {
  if (!Array.isArray(value) || value.length > 200) throw refuse(`${name} must be a list of tool names`, name);
  return value.map((entry) => text(entry, name, 100));
}

function oneOf<T extends string>(value: unknown, words: readonly T[], name: string): T {
  const found = words.find((word) => word === value);
  if (found === undefined) throw refuse(`${name} must be one of ${words.join(", ")}, not ${given(value)}`, name);
  return found;
}

function only(raw: Raw, known: readonly string[]): void {
  requireKnownKeys(raw, known, `payload of kind ${String(raw["kind"])}`);
}
