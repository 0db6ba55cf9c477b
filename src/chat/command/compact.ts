// /compact: shortens the transcript with a summary.
import { counted } from "../figures.ts";
import { answered, type Command } from "../command-run.ts";

export const compact: Command = {
  name: "compact",
  takes: "[what to keep]",
  summary: "Sum up the session so far to make room",
  waits: true,
  async answer(args, { deps, context }) {
    const { compacted, kept, note } = await deps.agents().compact(context.sessionKey, args === "" ? undefined : args);
    if (!compacted) return answered(note === "" ? "There was nothing to sum up." : `Nothing was summed up: ${note}`);
    return answered(`Summed up; ${counted(kept, "message")} kept as they were.${note === "" ? "" : ` ${note}`}`);
  },
};
