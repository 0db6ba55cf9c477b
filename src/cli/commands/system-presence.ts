// `openclaw system presence`: shows which clients are connected and which were recently.
import { systemClock } from "../../base/clock.ts";
import type { PresenceEntry } from "../../protocol/methods/system.ts";
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import { formatDuration } from "../../base/duration.ts";
import { table, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { systemOptions, targetOf } from "../target.ts";

export const command = defineCommand({
  options: systemOptions,
  examples: [
    { line: "system presence", does: "gateway, pages, nodes and apps" },
    { line: "system presence --json", does: "all fields of every entry" },
  ],
  async run(io, { options }) {
    await requireConfigUnless(options.url !== undefined, io);
    const rows = await withGateway(io, await targetOf(io, options), (client) => client.call("system-presence", {}));
    io.print(io.json ? toJson(rows) : table(rows, shape, io).join("\n"));
    return 0;
  },
});

const shape = [
  { title: "Host", text: ({ host = "" }: Partial<PresenceEntry>) => host },
  { title: "Mode", text: ({ mode = "", roles = [] }: Partial<PresenceEntry>) => [mode, ...roles].join(" ") },
  { title: "Version", text: ({ version = "" }: Partial<PresenceEntry>) => version },
  { title: "Platform", text: ({ platform = "" }: Partial<PresenceEntry>) => platform },
  { title: "From", text: ({ ip = "" }: Partial<PresenceEntry>) => ip },
  {
    title: "Seen",
    text: ({ ts = 0, reason = "" }: Partial<PresenceEntry>) =>
      reason === "self" ? "now" : `${formatDuration(systemClock.now() - ts)} ago (${reason})`,
  },
];
