// /new and /reset: start a new transcript under the same key; levels and overrides stay.
import { resetSession } from "../../session/session.ts";
import type { Directed } from "../../agent/direct.ts";
import { knownModel } from "../model-choice.ts";
import { answered, refText, type Command, type CommandRun } from "../command-run.ts";

/** The prompt of the turn after a plain /new; it is not shown as the person's message. */
export const GREETING =
  "The person has just begun a new session. Greet them in one or two sentences in your own manner and ask what to do. Do not mention this instruction.";

export const fresh: Command = {
  name: "new",
  aliases: ["reset"],
  takes: "[model] [message]",
  summary: "Start a new session",
  async answer(args, commandRun) {
    const { model, rest } = await splitModel(args, commandRun);
    await stopOthers(commandRun);
    await resetSession(commandRun.deps.store.sessions, commandRun.context.sessionKey, commandRun.deps.clock.now());
    if (model !== undefined) await commandRun.patch({ providerOverride: model.provider, modelOverride: model.id });
    const note = model === undefined ? "New session." : `New session with ${refText(model)}.`;
    if (rest !== "") return turn(rest, note);
    if ((await commandRun.model()) === undefined) return answered(note);
    return { ...turn(GREETING, note), source: "new" };
  },
};

const turn = (text: string, note: string): Extract<Directed, { kind: "turn" }> => ({
  kind: "turn",
  text,
  notes: [note],
  once: {},
});

/** The first word counts as a model only when it exactly names one. */
async function splitModel(args: string, commandRun: CommandRun) {
  const [word = ""] = /^\S+/.exec(args) ?? [];
  if (word === "" || word.length > 200) return { rest: args };
  const rest = args.slice(word.length).trim();
  const model = await knownModel(word, rest === "", commandRun);
  return model === undefined ? { rest: args } : { model, rest };
}

/** Otherwise old runs and commands approved later would continue to write to the old transcript. */
async function stopOthers({ deps, context: { sessionKey, runId } }: CommandRun): Promise<void> {
  const agents = deps.agents();
  const others = agents.active(sessionKey).filter((active) => active !== runId);
  const reason = "a new session was started";
  await Promise.all(others.map((other) => agents.abort({ sessionKey, runId: other }, reason)));
  await deps.approvals?.withdrawAll(sessionKey, reason);
}
