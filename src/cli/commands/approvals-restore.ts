// `openclaw approvals restore`: writes a missing approvals file again, with its last known rules.
import { OpenClawError } from "../../core/error.ts";
import { atPlace, placeOptions } from "../approvals-place.ts";
import { defineCommand } from "../command.ts";
import { toJson } from "../print.ts";
import { approvalLines } from "./approvals-get.ts";

export const command = defineCommand({
  details:
    "When exec-approvals.json is missing, its last known rules stay in force. This command writes them back. To start without rules instead, set a file with {version: 1}.",
  options: placeOptions,
  examples: [
    { line: "approvals restore", does: "on this machine" },
    { line: "approvals set --file empty.json", does: "instead: start with the rules of that file" },
  ],
  async run(io, { options }) {
    const after = await atPlace(io, options, async (place) => {
      const current = await place.read();
      if (current.lost !== true)
        throw new OpenClawError("approvals.not-lost", "nothing to restore: the approvals file exists", {
          hint: "openclaw approvals get",
        });
      return place.write(current.file, current);
    });
    io.print(io.json ? toJson(after) : approvalLines(after, io).join("\n"));
    return 0;
  },
});
