// `openclaw devices list`: who waits to be let in, and who is in.
import { systemClock } from "../../base/clock.ts";
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { span, table, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

interface Waiting {
  readonly requestId: string;
  readonly displayName?: string;
  readonly clientId: string;
  readonly platform: string;
  readonly role: string;
  readonly scopes: readonly string[];
  readonly remoteIp?: string;
  readonly isRepair?: boolean;
  readonly ts: number;
  /** Of a paired node: what it offers beyond what was approved. */
  readonly added?: Added;
}

interface Added {
  readonly caps: readonly string[];
  readonly commands: readonly string[];
  readonly permissions?: Readonly<Record<string, boolean>>;
}

interface Paired {
  readonly deviceId: string;
  readonly displayName?: string;
  readonly clientId: string;
  readonly platform: string;
  readonly roles: readonly string[];
  readonly scopes?: readonly string[];
  readonly approvedAtMs: number;
  readonly tokens: readonly { readonly role: string; readonly revokedAtMs?: number }[];
}

export const command = defineCommand({
  summary: "Show devices that wait to be let in and devices that are paired.",
  options: wireOptions,
  examples: [
    { line: "devices list", does: "both tables" },
    { line: "devices list --json", does: "all that is known of each" },
  ],
  async run(io, { options }) {
    await requireConfigUnless(options.url !== undefined, io);
    const list = (await withGateway(io, await targetOf(io, options), (client) =>
      client.call("device.pair.list", {}),
    )) as { pending: Waiting[]; paired: Paired[] };
    io.print(io.json ? toJson(list) : linesOf(list, io).join("\n"));
    return 0;
  },
});

function linesOf({ pending, paired }: { pending: Waiting[]; paired: Paired[] }, io: Io): string[] {
  const waiting =
    pending.length === 0
      ? ["Nobody waits."]
      : [
          io.paint.strong("Waiting (let in with: openclaw devices approve <request>)"),
          ...table(pending, waitingShape(), io),
        ];
  const known =
    paired.length === 0
      ? ["No device is paired yet."]
      : [io.paint.strong("Paired"), ...table(paired, pairedShape(), io)];
  return [...waiting, "", ...known];
}

function waitingShape() {
  return [
    { title: "Request", text: ({ requestId }: Waiting) => requestId },
    {
      title: "Client",
      text: ({ displayName, clientId, platform }: Waiting) => `${displayName ?? clientId} on ${platform}`,
    },
    {
      title: "Wants",
      text: ({ role, scopes, isRepair, added }: Waiting) =>
        added === undefined
          ? `${[role, ...scopes].join(" ")}${isRepair === true ? " (more than it has)" : ""}`
          : `also: ${[...added.caps, ...added.commands, ...Object.keys(added.permissions ?? {})].join(" ")}`,
    },
    { title: "From", text: ({ remoteIp = "this machine" }: Waiting) => remoteIp },
    { title: "Age", text: ({ ts }: Waiting) => span(systemClock.now() - ts) },
  ];
}

function pairedShape() {
  return [
    { title: "Device", text: ({ deviceId }: Paired) => deviceId.slice(0, 12) },
    {
      title: "Client",
      text: ({ displayName, clientId, platform }: Paired) => `${displayName ?? clientId} on ${platform}`,
    },
    { title: "Role", text: ({ roles }: Paired) => roles.join(" ") },
    {
      title: "May",
      text: ({ scopes = [] }: Paired) => scopes.map((scope) => scope.replace(/^operator\./, "")).join(" "),
    },
    {
      title: "Token",
      text: ({ tokens }: Paired) =>
        tokens.map(({ role, revokedAtMs }) => (revokedAtMs === undefined ? "valid" : `${role} revoked`)).join(", ") ||
        "none",
    },
    { title: "Paired", text: ({ approvedAtMs }: Paired) => `${span(systemClock.now() - approvedAtMs)} ago` },
  ];
}
