// `openclaw sessions replay`: runs a recorded session again, offline, and shows the first difference.
import { expandHome } from "../../base/paths.ts";
import { defineCommand } from "../command.ts";
import { counted, safe, toJson } from "../print.ts";

export const command = defineCommand({
  details:
    "Models and tools answer from the file; no real model or tool runs. The command compares the requests to the model byte for byte, the arguments of tools, and their order. To record: OPENCLAW_RECORD=<folder> openclaw gateway run.",
  arguments: [{ name: "file", description: "A file that a recording gateway wrote." }],
  options: {},
  examples: [
    { line: "sessions replay recordings/agent_main_main-1790000000000.jsonl", does: "same, or the first difference" },
  ],
  exits: "0 no difference, 1 it differs or cannot be read, 2 wrong usage",
  async run(io, { arguments: [file = ""] }) {
    const { replay } = await import("../../agent/replay.ts");
    const report = await replay(expandHome(file, io.paths().home));
    const { same, runs, turns, calls, difference } = report;
    const count = `${counted(runs, "run")}, ${counted(turns, "model turn")}, ${counted(calls, "tool call")}`;
    if (io.json) io.print(toJson(report));
    else if (difference === undefined) io.print(`same (${count})`);
    else {
      io.print(
        io.paint.bad(`differs in ${difference.where}${difference.path === "" ? "" : `, at ${difference.path}`}`),
      );
      io.print(`  recorded  ${safe(difference.recorded)}\n  now       ${safe(difference.now)}`);
      io.print(`  before it ${count} matched`);
    }
    return same ? 0 : 1;
  },
});
