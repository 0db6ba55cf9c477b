// `openclaw approvals set`: replaces the rules for running programs by those of a file.
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
  details: "The file is checked as a whole first; when somebody changed the approvals meanwhile, nothing is written.",
  options: {
    file: { type: "string", value: "file", description: "JSON or JSON5 as approvals get --json shows it under file." },
    ...placeOptions,
  },
  examples: [
    { line: "approvals set --file rules.json", does: "on this machine" },
    { line: "approvals set --gateway --file rules.json", does: "on the gateway's machine" },
  ],
  async run(io, { options }) {
    if (options.file === undefined) throw new UsageError("--file is missing", ["approvals", "set"]);
    // Older spellings are taken here as they are in the file itself.
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

/** Kept as they are, since they do no harm; but whoever wrote them should know. */
function warn({ agents = {} }: ApprovalsFile, io: Io): void {
  for (const [agent, { allowlist = [] }] of Object.entries(agents))
    for (const { pattern } of allowlist) {
      const why = neverMatches(pattern);
      if (why !== undefined) io.say(oneLine(`agent ${agent}: pattern ${JSON.stringify(pattern)} ${why}`));
    }
}
