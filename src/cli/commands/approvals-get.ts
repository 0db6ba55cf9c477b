// `openclaw approvals get`: the rules for running programs on a host, as they are written.
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { columns, oneLine, shortPath, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

interface Snapshot {
  readonly path: string;
  readonly exists: boolean;
  readonly file: {
    readonly defaults?: Readonly<Record<string, unknown>>;
    readonly agents?: Readonly<
      Record<
        string,
        Readonly<Record<string, unknown>> & {
          readonly allowlist?: readonly { readonly pattern: string; readonly lastUsedCommand?: string }[];
        }
      >
    >;
  };
}

export const command = defineCommand({
  summary: "Show the exec approvals: which programs may run without asking.",
  options: {
    gateway: {
      type: "boolean",
      description: "Those of the gateway's machine, through the gateway; else the file on this one.",
    },
    ...wireOptions,
  },
  examples: [
    { line: "approvals get", does: "the file on this machine" },
    { line: "approvals get --gateway --json", does: "that of the gateway, with its hash" },
  ],
  async run(io, { options }) {
    await requireConfigUnless(options.url !== undefined, io);
    const overWire = options.gateway === true || options.url !== undefined;
    const snapshot = overWire
      ? ((await withGateway(io, await targetOf(io, options), (client) =>
          client.call("exec.approvals.get", {}),
        )) as Snapshot)
      : await readLocal(io);
    io.print(io.json ? toJson(snapshot) : linesOf(snapshot, io).join("\n"));
    return 0;
  },
});

async function readLocal(io: Io): Promise<Snapshot> {
  const { readApprovals, withoutToken } = await import("../../exec/approval/file.ts");
  return withoutToken(readApprovals(io.paths().state));
}

function linesOf({ path, exists, file }: Snapshot, io: Io): string[] {
  const place = `${shortPath(path, io)}${exists ? "" : " (not there: no rules, so nothing is allowed without asking)"}`;
  const agents = Object.entries(file.agents ?? {}).flatMap(([id, { allowlist = [], ...level }]) => [
    io.paint.strong(`Agent ${oneLine(id)}`),
    ...columns(
      [
        ["Level", levelText(level)],
        ["Allowed", allowlist.length === 0 ? "nothing" : allowlist.map(({ pattern }) => oneLine(pattern)).join("\n")],
      ],
      { width: io.width, indent: "  " },
    ),
  ]);
  return [
    ...columns(
      [
        ["File", place],
        ["Defaults", levelText(file.defaults ?? {})],
      ],
      { width: io.width },
    ),
    ...agents,
  ];
}

function levelText(level: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(level).map(([name, value]) => `${name} ${oneLine(String(value))}`);
  return words.length === 0 ? "as the config says" : words.join(", ");
}
