// /compact: shortens the transcript with a summary.
import { counted } from "../figures.ts";
import { answered, type Command } from "../command-run.ts";

export const compact: Command = {
  name: "compact",
  takes: "[what to keep]",
  summary: "Summarize the session so far",
  waits: true,
  async answer(args, { deps, context }) {
    const { compacted, kept, note } = await deps.agents().compact(context.sessionKey, args === "" ? undefined : args);
    if (!compacted) return answered(note === "" ? "There was nothing to summarize." : `Not summarized: ${note}`);
    return answered(`Summarized; ${counted(kept, "message")} kept unchanged.${note === "" ? "" : ` ${note}`}`);
  },
};
