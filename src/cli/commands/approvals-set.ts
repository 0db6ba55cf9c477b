// `openclaw approvals set`: replaces the approvals file by the contents of another file.
import { readFile } from "node:fs/promises";

import { errnoOf, OpenClawError } from "../../core/error.ts";
import { neverMatches } from "../approval-pattern.ts";
import { atPlace, parseFile, placeOptions } from "../approvals-place.ts";
import { defineCommand, UsageError } from "../command.ts";
import type { Io } from "../io.ts";
import { oneLine, toJson } from "../print.ts";
import type { ApprovalsFile } from "../../exec/policy/file.ts";
import { approvalLines } from "./approvals-get.ts";

export const command = defineCommand({
  details: "The whole file is checked first. If the approvals changed in the meantime, nothing is written.",
  options: {
    file: {
      type: "string",
      value: "file",
      description: "JSON or JSON5, in the form that approvals get --json shows under file.",
    },
    ...placeOptions,
  },
  examples: [
    { line: "approvals set --file rules.json", does: "on this machine" },
    { line: "approvals set --gateway --file rules.json", does: "on the gateway's machine" },
  ],
  async run(io, { options }) {
    if (options.file === undefined) throw new UsageError("missing --file <file>", ["approvals", "set"]);
    // Older key names are accepted here as in the file itself.
    const { migrated } = await import("../../exec/policy/file.ts");
    const file = parseFile(migrated(await readJson5(options.file)), oneLine(options.file));
    warn(file, io);
    const after = await atPlace(io, options, async (place) => place.write(file, await place.read()));
    io.print(io.json ? toJson(after) : approvalLines(after, io).join("\n"));
    return 0;
  },
});

async function readJson5(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new OpenClawError("approvals.unreadable", oneLine(`${path} cannot be read (${errnoOf(cause) ?? "?"})`), {
      cause,
    });
  });
  const { parseJson5 } = await import("../json5.ts");
  const parsed = parseJson5(text);
  if (!parsed.ok) throw new OpenClawError("approvals.unreadable", oneLine(`${path} is not JSON: ${parsed.why}`));
  return parsed.value;
}

/** Such entries are kept, because they are harmless, but their author should know. */
function warn({ agents = {} }: ApprovalsFile, io: Io): void {
  for (const [agent, { allowlist = [] }] of Object.entries(agents))
    for (const { pattern } of allowlist) {
      const why = neverMatches(pattern);
      if (why !== undefined) io.say(oneLine(`agent ${agent}: pattern ${JSON.stringify(pattern)} ${why}`));
    }
}
