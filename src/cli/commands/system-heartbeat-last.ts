// `openclaw system heartbeat last`: shows the result of the last heartbeat.
import { systemClock } from "../../base/clock.ts";
import type { HeartbeatEvent } from "../../protocol/methods/heartbeat.ts";
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import { formatDuration } from "../../base/duration.ts";
import { columns, oneLine, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { systemOptions, targetOf } from "../target.ts";

export const command = defineCommand({
  options: systemOptions,
  examples: [
    { line: "system heartbeat last", does: "its time and result" },
    { line: "system heartbeat last --json", does: "the event as it was sent" },
  ],
  async run(io, { options }) {
    await requireConfigUnless(options.url !== undefined, io);
    const last = await withGateway(io, await targetOf(io, options), (client) => client.call("last-heartbeat", {}));
    if (io.json) io.print(toJson(last));
    else io.print(last === null ? "No heartbeat yet." : columns(rowsOf(last), { width: io.width }).join("\n"));
    return 0;
  },
});

function rowsOf({
  ts,
  status,
  reason,
  durationMs,
  preview,
  agentId,
  channel,
  to,
}: HeartbeatEvent): (readonly [string, string])[] {
  const where = channel === undefined ? [] : [["To", oneLine([channel, to].filter(Boolean).join(" "))] as const];
  return [
    ["When", `${formatDuration(systemClock.now() - ts)} ago, ${durationMs} ms`],
    ["Agent", oneLine(agentId ?? "main")],
    ["Result", `${oneLine(status)}${reason === undefined ? "" : ` (${oneLine(reason)})`}`],
    ...where,
    ...(preview === undefined ? [] : [["Reply", oneLine(preview)] as const]),
  ];
}
