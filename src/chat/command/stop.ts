// /stop: stops the agent in this session and drops queued messages.
import { counted } from "../figures.ts";
import { answered, type Command } from "../command-run.ts";

export const stop: Command = {
  name: "stop",
  summary: "Stop the agent; also the plain words stop, esc, abort, wait, exit, interrupt",
  async answer(_args, { deps, context }) {
    const { sessionKey, runId } = context;
    const agents = deps.agents();
    // The run of this command continues, so the others are stopped one by one.
    const others = agents.active(sessionKey).filter((active) => active !== runId);
    const ended = await Promise.all(
      others.map((other) => agents.abort({ sessionKey, runId: other }, "stopped by /stop")),
    );
    const count = new Set(ended.flat().filter((id) => id !== runId)).size;
    const withdrawn = (await deps.approvals?.withdrawAll(sessionKey, "stopped by /stop")) ?? 0;
    const children = (await deps.children?.().stop(sessionKey, "all", "none")) ?? [];
    if (count + withdrawn + children.length === 0) return answered("Nothing is running here.");
    const helpers = children.length === 0 ? [] : [`stopped ${counted(children.length, "subagent")}`];
    const questions = withdrawn === 0 ? [] : [`withdrew ${counted(withdrawn, "approval")}`];
    const words = [...(count === 0 ? [] : [`stopped ${counted(count, "run")}`]), ...helpers, ...questions].join(", ");
    return answered(`${words.charAt(0).toUpperCase()}${words.slice(1)}.`);
  },
};
