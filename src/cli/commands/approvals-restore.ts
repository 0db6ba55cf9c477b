// `openclaw approvals restore`: writes an approvals file that is gone again, with the rules it held last.
import { OpenClawError } from "../../core/error.ts";
import { atPlace, placeOptions } from "../approvals-place.ts";
import { defineCommand } from "../command.ts";
import { toJson } from "../print.ts";
import { approvalLines } from "./approvals-get.ts";

export const command = defineCommand({
  details:
    "When exec-approvals.json is gone, its last known rules stay in force. This writes them back; to begin without rules instead, set a file that holds {version: 1}.",
  options: placeOptions,
  examples: [
    { line: "approvals restore", does: "on this machine" },
    { line: "approvals set --file empty.json", does: "instead: begin with the rules of that file" },
  ],
  async run(io, { options }) {
    const after = await atPlace(io, options, async (place) => {
      const current = await place.read();
      if (current.lost !== true)
        throw new OpenClawError("approvals.not-lost", "nothing to restore: the approvals file is not gone", {
          hint: "openclaw approvals get",
        });
      return place.write(current.file, current);
    });
    io.print(io.json ? toJson(after) : approvalLines(after, io).join("\n"));
    return 0;
  },
});
