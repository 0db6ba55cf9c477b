// /bash and !: a person's own shell command, through the exec tool and its rules, on this host, one at a time.
import { isRecord } from "../../core/record.ts";
import { routeOfSession } from "../../exec/route.ts";
import type { CallHints } from "../../tool/tool.ts";
import type { Directed } from "../command.ts";
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
    return (await steer(args, commandRun)) ?? alone(commandRun, (job) => start(args, job, commandRun));
  },
};

/** `poll` and `stop` speak of a command that went on in the background: the one named, else the one started here. */
async function steer(args: string, commandRun: CommandRun): Promise<Directed | undefined> {
  const [, word, given] = /^(poll|stop)(?:\s+(\S+))?$/i.exec(args) ?? [];
  if (word === undefined) return undefined;
  const isPoll = word.toLowerCase() === "poll";
  const sessionId = given ?? jobOf(commandRun).sessionId;
  if (sessionId !== undefined)
    return runTool("process", { action: isPoll ? "poll" : "kill", sessionId }, CALLER, commandRun);
  if (isPoll) return runTool("process", { action: "list" }, CALLER, commandRun);
  return answered(`No shell command of this chat is running. ${usage}. !poll lists what runs.`);
}

/** What was started here: in the foreground now, or in the background under an id. */
interface Job {
  busy: boolean;
  sessionId: string | undefined;
}

/** Per set of ports and session. A command does not outlive the gateway, so this need not either. */
const jobs = new WeakMap<object, Map<string, Job>>();

function jobOf({ deps, context }: CommandRun): Job {
  const known = jobs.get(deps) ?? new Map<string, Job>();
  jobs.set(deps, known);
  const job = known.get(context.sessionKey) ?? { busy: false, sessionId: undefined };
  known.set(context.sessionKey, job);
  return job;
}

async function alone(commandRun: CommandRun, run: (job: Job) => Promise<Directed>): Promise<Directed> {
  const job = jobOf(commandRun);
  if (job.busy) return answered("A shell command is still running here. Wait for it, or /stop.");
  job.busy = true;
  try {
    const { sessionId } = job;
    if (sessionId !== undefined && (await isRunning(sessionId, commandRun)))
      return answered(`A shell command is still running here (${sessionId}). !poll shows it, !stop ends it.`);
    job.sessionId = undefined;
    return await run(job);
  } finally {
    job.busy = false;
  }
}

async function isRunning(sessionId: string, commandRun: CommandRun): Promise<boolean> {
  const ran = await attemptTool({ tool: "process", args: { action: "list" }, caller: CALLER }, commandRun);
  const details = "result" in ran ? ran.result.details : undefined;
  const listed = isRecord(details) && Array.isArray(details.sessions) ? details.sessions : [];
  return listed.some((one) => isRecord(one) && one.sessionId === sessionId && one.status === "running");
}

async function start(command: string, job: Job, commandRun: CommandRun): Promise<Directed> {
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
  job.sessionId = details.sessionId;
  const tail = typeof details.tail === "string" && details.tail.trim() !== "" ? `\n${fenced(details.tail)}` : "";
  return answered(`Still running (${details.sessionId}). !poll shows more, !stop ends it.${tail}`);
}

/** Here means the gateway's machine; where commands of the session go to a node, this one stays, under the same rules. */
async function onThisHost(commandRun: CommandRun): Promise<CallHints> {
  const { host } = routeOfSession(commandRun.config, commandRun.context.agentId, await commandRun.entry());
  return host.value === "node" ? { exec: { host: "gateway" } } : {};
}
