// /bash and !: runs a person's shell command through the exec tool and its policy, on this host, one at a time.
import { isRecord } from "../../core/record.ts";
import { routeOfSession } from "../../exec/route.ts";
import type { CallHints } from "../../tool/tool.ts";
import type { Directed } from "../../agent/direct.ts";
import { fenced } from "../fence.ts";
import { attemptTool, contentText, runTool } from "../run-tool.ts";
import { answered, type Command, type CommandRun } from "../command-run.ts";
import { closedText } from "./elevated.ts";

const CALLER = "chat:!";
const usage = "Usage: ! <command>, !poll [id], !stop [id]";

export const bash: Command = {
  name: "bash",
  aliases: [],
  takes: "<command> | poll [id] | stop [id]",
  summary: "Run a shell command; also ! <command>",
  waits: true,
  async answer(args, commandRun) {
    if (commandRun.config.commands?.bash !== true) {
      return answered(
        "Shell commands from the chat are off. Turn them on with: openclaw config set commands.bash true",
      );
    }
    if (args === "") return answered(usage);
    return (
      (await steer(args, commandRun)) ?? alone(commandRun, (shellCommand) => start(args, shellCommand, commandRun))
    );
  },
};

/** `poll` and `stop` act on a background command: the named one, else the one started here. */
async function steer(args: string, commandRun: CommandRun): Promise<Directed | undefined> {
  const [, word, given] = /^(poll|stop)(?:\s+(\S+))?$/i.exec(args) ?? [];
  if (word === undefined) return undefined;
  const isPoll = word.toLowerCase() === "poll";
  const sessionId = given ?? shellCommandOf(commandRun).sessionId;
  if (sessionId !== undefined)
    return runTool("process", { action: isPoll ? "poll" : "kill", sessionId }, CALLER, commandRun);
  if (isPoll) return runTool("process", { action: "list" }, CALLER, commandRun);
  return answered(`No shell command of this chat is running. ${usage}. !poll lists what runs.`);
}

/** The command started here: in the foreground, or in the background under an id. */
interface ShellCommand {
  busy: boolean;
  sessionId: string | undefined;
}

/** By gateway and session; kept in memory, because a command does not outlive the gateway. */
const shellCommands = new WeakMap<object, Map<string, ShellCommand>>();

function shellCommandOf({ deps, context }: CommandRun): ShellCommand {
  const known = shellCommands.get(deps) ?? new Map<string, ShellCommand>();
  shellCommands.set(deps, known);
  const shellCommand = known.get(context.sessionKey) ?? { busy: false, sessionId: undefined };
  known.set(context.sessionKey, shellCommand);
  return shellCommand;
}

async function alone(
  commandRun: CommandRun,
  run: (shellCommand: ShellCommand) => Promise<Directed>,
): Promise<Directed> {
  const shellCommand = shellCommandOf(commandRun);
  if (shellCommand.busy) return answered("A shell command is still running here. Wait for it, or /stop.");
  shellCommand.busy = true;
  try {
    const { sessionId } = shellCommand;
    if (sessionId !== undefined && (await isRunning(sessionId, commandRun)))
      return answered(`A shell command is still running here (${sessionId}). !poll shows it, !stop ends it.`);
    shellCommand.sessionId = undefined;
    return await run(shellCommand);
  } finally {
    shellCommand.busy = false;
  }
}

async function isRunning(sessionId: string, commandRun: CommandRun): Promise<boolean> {
  const ran = await attemptTool({ tool: "process", args: { action: "list" }, caller: CALLER }, commandRun);
  const details = "result" in ran ? ran.result.details : undefined;
  const listed = isRecord(details) && Array.isArray(details.sessions) ? details.sessions : [];
  return listed.some((one) => isRecord(one) && one.sessionId === sessionId && one.status === "running");
}

async function start(command: string, shellCommand: ShellCommand, commandRun: CommandRun): Promise<Directed> {
  const { sandboxed } = await commandRun.subject();
  const closed = sandboxed ? await closedText(commandRun) : undefined;
  if (closed !== undefined) {
    const failure = { code: "exec.elevated-unavailable", message: closed };
    return { kind: "answered", text: closed, failure };
  }
  const waitMs = commandRun.config.commands?.bashForegroundMs ?? 2000;
  const args = {
    command,
    ...(waitMs === 0 ? { background: true } : { yieldMs: waitMs }),
    ...(sandboxed ? { elevated: true } : {}),
  };
  const ran = await attemptTool(
    { tool: "exec", args, caller: CALLER, hints: await onThisHost(commandRun) },
    commandRun,
  );
  if ("refused" in ran) return ran.refused;
  const { content, details } = ran.result;
  if (!isRecord(details) || details.status !== "running" || typeof details.sessionId !== "string")
    return answered(contentText(content));
  shellCommand.sessionId = details.sessionId;
  const tail = typeof details.tail === "string" && details.tail.trim() !== "" ? `\n${fenced(details.tail)}` : "";
  return answered(`Still running (${details.sessionId}). !poll shows more, !stop ends it.${tail}`);
}

/** Runs on the gateway's machine, also when the commands of the session go to a node. */
async function onThisHost(commandRun: CommandRun): Promise<CallHints> {
  const { host } = routeOfSession(commandRun.config, commandRun.context.agentId, await commandRun.entry());
  return host.value === "node" ? { exec: { host: "gateway" } } : {};
}
