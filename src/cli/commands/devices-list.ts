// `openclaw devices list`: lists pairing requests and paired devices.
import { systemClock } from "../../base/clock.ts";
import type { PairedDevice, PairedDevices, PendingDevice } from "../../protocol/methods/devices.ts";
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { formatDuration } from "../../base/duration.ts";
import { table, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

export const command = defineCommand({
  options: wireOptions,
  examples: [
    { line: "devices list", does: "both tables" },
    { line: "devices list --json", does: "all fields of every device" },
  ],
  async run(io, { options }) {
    await requireConfigUnless(options.url !== undefined, io);
    const list = await withGateway(io, await targetOf(io, options), (client) => client.call("device.pair.list", {}));
    io.print(io.json ? toJson(list) : linesOf(list, io).join("\n"));
    return 0;
  },
});

function linesOf({ pending, paired }: PairedDevices, io: Io): string[] {
  const waiting =
    pending.length === 0
      ? ["No pairing requests."]
      : [
          io.paint.strong("Pairing requests (approve with: openclaw devices approve <request>)"),
          ...table(pending, waitingShape(), io),
        ];
  const known =
    paired.length === 0 ? ["No paired devices."] : [io.paint.strong("Paired"), ...table(paired, pairedShape(), io)];
  return [...waiting, "", ...known];
}

function waitingShape() {
  return [
    { title: "Request", text: ({ requestId }: PendingDevice) => requestId },
    {
      title: "Client",
      text: ({ displayName, clientId, platform }: PendingDevice) => `${displayName ?? clientId} on ${platform}`,
    },
    {
      title: "Wants",
      text: ({ role, scopes, isRepair, added }: PendingDevice) =>
        added === undefined
          ? `${[role, ...scopes].join(" ")}${isRepair ? " (more than it has)" : ""}`
          : `also: ${[...added.caps, ...added.commands, ...Object.keys(added.permissions ?? {})].join(" ")}`,
    },
    { title: "From", text: ({ remoteIp = "this machine" }: PendingDevice) => remoteIp },
    { title: "Age", text: ({ ts }: PendingDevice) => formatDuration(systemClock.now() - ts) },
  ];
}

function pairedShape() {
  return [
    { title: "Device", text: ({ deviceId }: PairedDevice) => deviceId.slice(0, 12) },
    {
      title: "Client",
      text: ({ displayName, clientId, platform }: PairedDevice) => `${displayName ?? clientId} on ${platform}`,
    },
    { title: "Role", text: ({ roles }: PairedDevice) => roles.join(" ") },
    {
      title: "May",
      text: ({ scopes }: PairedDevice) => scopes.map((scope) => scope.replace(/^operator\./, "")).join(" "),
    },
    {
      title: "Token",
      text: ({ tokens }: PairedDevice) =>
        tokens.map(({ role, revokedAtMs }) => (revokedAtMs === undefined ? "valid" : `${role} revoked`)).join(", ") ||
        "none",
    },
    {
      title: "Paired",
      text: ({ approvedAtMs }: PairedDevice) => `${formatDuration(systemClock.now() - approvedAtMs)} ago`,
    },
  ];
}
