// /subagents: lists, reads, stops and messages the subagents of this session.
import { textOf } from "../../core/message.ts";
import { OpenClawError } from "../../core/error.ts";
import { endWords, nameOf, type Child, type Subagents } from "../../session/subagents.ts";
import { readHistory } from "../../session/history.ts";
import type { Directed } from "../../agent/direct.ts";
import { counted } from "../figures.ts";
import { answered, type Command, type CommandRun } from "../command-run.ts";

const USAGE =
  "Usage: /subagents list | stop <id|#|last|all> | log <id|#|last> [limit] [tools] | info <id|#|last> | send <id|#|last> <message>";
const SHOWN = 20;
const LOG_LINES = 20;
const MAX_LOG_LINES = 200;
const SEND_WAIT_MS = 30_000;

export const subagents: Command = {
  name: "subagents",
  takes: "list|stop|log|info|send",
  summary: "Subagents of this session: list, stop, log, info, send",
  async answer(args, commandRun) {
    const port = commandRun.deps.children;
    if (port === undefined) return answered("Subagents need the running gateway: openclaw gateway run");
    const [action = "", target = "", ...rest] = args.trim() === "" ? ["list"] : args.trim().split(/\s+/);
    const children = port();
    const all = await children.list(commandRun.context.sessionKey);
    if (action === "list") return answered(listText(all, commandRun.deps.clock.now()));
    if (action === "stop" && target.toLowerCase() === "all") return stop(children, commandRun, "all");
    const perform = actions.get(action.toLowerCase());
    if (perform === undefined || target === "") return answered(USAGE);
    const chosen = find(target, all);
    if (typeof chosen === "string") return answered(chosen);
    return perform(chosen, rest, commandRun, children, args);
  },
};

type Perform = (
  child: Child,
  rest: readonly string[],
  commandRun: CommandRun,
  children: Subagents,
  args: string,
) => Promise<Directed>;

const actions: ReadonlyMap<string, Perform> = new Map<string, Perform>([
  ["stop", (child, _rest, commandRun, children) => stop(children, commandRun, [child.runId])],
  ["log", log],
  ["info", async (child, _rest, commandRun) => answered(infoText(child, commandRun.deps.clock.now()))],
  ["send", send],
]);

/** By number in the list, beginning of the run id, key, label, or `last`. */
function find(target: string, all: readonly Child[]): Child | string {
  if (all.length === 0) return "This session has started no subagents.";
  const word = target.toLowerCase();
  const place = /^#?(\d{1,3})$/.exec(word)?.[1];
  const found =
    word === "last"
      ? all.slice(0, 1)
      : place === undefined
        ? all.filter(
            ({ runId, childKey, body }) =>
              childKey === word || body.label?.toLowerCase() === word || (word.length >= 4 && runId.startsWith(word)),
          )
        : all.slice(Number(place) - 1, Number(place));
  const [only, ...more] = found;
  if (only === undefined) return `No subagent is called "${target.slice(0, 80)}". /subagents lists them.`;
  return more.length === 0 ? only : `Several are called "${target.slice(0, 80)}"; name one by its number.`;
}

function listText(all: readonly Child[], now: number): string {
  if (all.length === 0) return "This session has started no subagents.";
  const running = all.filter(({ state }) => state === "running").length;
  const lines = all
    .slice(0, SHOWN)
    .map(
      (child, index) =>
        `${index + 1}. ${nameOf(child)}: ${stateOf(child)}, ${age(child, now)}, run ${child.runId.slice(0, 8)}`,
    );
  const more = all.length > SHOWN ? [`and ${all.length - SHOWN} older`] : [];
  return [`Subagents: ${running} running, ${all.length - running} ended.`, ...lines, ...more].join("\n");
}

const stateOf = ({ state, status }: Child): string => (state === "running" ? "running" : endWords[status ?? "unknown"]);

function age({ createdAt, endedAt }: Child, now: number): string {
  const seconds = Math.max(0, Math.round(((endedAt ?? now) - createdAt) / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function infoText(child: Child, now: number): string {
  const { body, childKey, runId, createdAt, archiveAt } = child;
  const { result } = body;
  const lines = [
    `${nameOf(child)}: ${stateOf(child)}, ${age(child, now)}`,
    `Task: ${body.task.slice(0, 500)}`,
    `Run: ${runId}`,
    `Session: ${childKey} (${body.sessionId})`,
    `Agent: ${body.agentId}${body.model === undefined ? "" : `, model ${body.model}`}`,
    `Started: ${new Date(createdAt).toISOString()}`,
    archiveAt === undefined ? undefined : `Archived: ${new Date(archiveAt).toISOString()}`,
    result === undefined ? undefined : `Tokens: ${result.input ?? 0} in, ${result.output ?? 0} out`,
    result?.notes === undefined ? undefined : `Notes: ${result.notes}`,
    result === undefined || result.text === "" ? undefined : `Result: ${result.text.slice(0, 1000)}`,
  ];
  return lines.filter((line) => line !== undefined).join("\n");
}

async function stop(children: Subagents, commandRun: CommandRun, runIds: readonly string[] | "all"): Promise<Directed> {
  const stopped = await children.stop(commandRun.context.sessionKey, runIds, "say");
  if (stopped.length === 0) return answered("None of these is running.");
  return answered(`Stopped ${counted(stopped.length, "subagent")}: ${stopped.map(nameOf).join(", ")}.`);
}

async function log(child: Child, rest: readonly string[], commandRun: CommandRun): Promise<Directed> {
  const { transcript, sessions } = commandRun.deps.store;
  const record = await sessions.get(child.childKey);
  if (record === undefined || transcript === undefined) return answered(`${nameOf(child)} was archived.`);
  const limit = Number(rest.find((word) => /^\d{1,4}$/.test(word)) ?? LOG_LINES);
  const { messages } = await readHistory(transcript, record, {
    limit: Math.min(Math.max(limit, 1), MAX_LOG_LINES),
    includeTools: rest.includes("tools"),
    maxBytes: 32_000,
  });
  const lines = messages.map(({ role, content }) => `${role}: ${textOf(content) || "(no text)"}`);
  return answered(lines.length === 0 ? "No messages yet." : lines.join("\n"));
}

async function send(
  child: Child,
  _rest: readonly string[],
  { deps, context }: CommandRun,
  children: Subagents,
  args: string,
): Promise<Directed> {
  const message = args.trim().replace(/^\S+\s+\S+\s*/, "");
  if (message === "") return answered(USAGE);
  if ((await deps.store.sessions.get(child.childKey)) === undefined)
    throw new OpenClawError("session.gone", `${nameOf(child)} was archived`, { hint: "start a new one" });
  const outcome = await children.ask(child, message, SEND_WAIT_MS, context.signal);
  if (outcome === undefined) return answered(`${nameOf(child)} got the message and is still working on it.`);
  if (outcome.status !== "ok")
    return answered(`${nameOf(child)} failed: ${outcome.failure?.message ?? "it was stopped"}`);
  return answered(outcome.text === "" ? `${nameOf(child)} gave no reply.` : outcome.text);
}
