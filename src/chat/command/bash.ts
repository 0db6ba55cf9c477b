// /bash and !: runs a shell command through the exec tool, under the same rules as the agent.
import type { Directed } from "../command.ts";
import { runTool } from "../run-tool.ts";
import { answered, type Command, type Scene } from "../scene.ts";

const CALLER = "chat:!";

export const bash: Command = {
  name: "bash",
  aliases: [],
  takes: "<command> | poll [id] | stop <id>",
  summary: "Run a shell command; also ! <command>",
  waits: true,
  async answer(args, scene) {
    if (scene.config.commands?.bash !== true) {
      return answered(
        "Shell commands from the chat are off. Turn them on with: openclaw config set commands.bash true",
      );
    }
    if (args === "") return answered("Usage: ! <command>, !poll [id], !stop <id>");
    return (await steer(args, scene)) ?? alone(scene, () => runTool("exec", execArguments(args, scene), CALLER, scene));
  },
};

/** `poll` and `stop` speak of a command that went on in the background. */
async function steer(args: string, scene: Scene): Promise<Directed | undefined> {
  const [, action, sessionId] = /^(poll|stop)(?:\s+(\S+))?$/i.exec(args) ?? [];
  if (action === undefined) return undefined;
  if (action.toLowerCase() === "poll") {
    return runTool(
      "process",
      sessionId === undefined ? { action: "list" } : { action: "poll", sessionId },
      CALLER,
      scene,
    );
  }
  if (sessionId === undefined) return answered("Which one? Usage: !stop <id>. !poll lists them.");
  return runTool("process", { action: "kill", sessionId }, CALLER, scene);
}

function execArguments(command: string, { config }: Scene): Record<string, unknown> {
  const waitMs = config.commands?.bashForegroundMs ?? 2000;
  return waitMs === 0 ? { command, background: true } : { command, yieldMs: waitMs };
}

/** Sessions with a command in the foreground, per set of ports. */
const busy = new WeakMap<object, Set<string>>();

async function alone({ deps, context }: Scene, run: () => Promise<Directed>): Promise<Directed> {
  const sessions = busy.get(deps) ?? new Set<string>();
  busy.set(deps, sessions);
  if (sessions.has(context.sessionKey))
    return answered("A shell command is still running here. Wait for it, or /stop.");
  sessions.add(context.sessionKey);
  try {
    return await run();
  } finally {
    sessions.delete(context.sessionKey);
  }
}
