// `openclaw status`: shows config, gateway, agents, sessions and devices on one screen, with the next step.
import { readVersion } from "../../base/version.ts";
import { defineCommand } from "../command.ts";
import { readGatewayState, type GatewayState } from "../gateway-state.ts";
import type { Io } from "../io.ts";
import { formatDuration } from "../../base/duration.ts";
import { columns, oneLine, shortPath, toJson } from "../print.ts";
import { describe } from "../settings.ts";
import { wireOptions } from "../target.ts";

interface Answers {
  readonly status?: {
    readonly sessions?: {
      readonly count: number;
      readonly recent?: readonly { readonly key: string; readonly age: number }[];
    };
  };
  readonly health?: {
    readonly agents?: readonly { readonly agentId: string; readonly isDefault?: boolean }[];
    readonly channelOrder?: readonly string[];
  };
  readonly "device.pair.list"?: { readonly pending?: readonly unknown[]; readonly paired?: readonly unknown[] };
  readonly "system-presence"?: readonly { readonly text: string }[];
}

export const command = defineCommand({
  details: "Works with the gateway down and with a broken config.",
  options: {
    all: {
      type: "boolean",
      description: "Also check the whole config and list connected clients and available methods.",
    },
    ...wireOptions,
  },
  examples: [
    { line: "status", does: "an overview" },
    { line: "status --all", does: "with all details" },
    { line: "status --json", does: "as JSON" },
  ],
  exits: "0 printed, also with the gateway down (use gateway status or health in scripts), 2 wrong usage",
  async run(io, { options }) {
    const state = await readGatewayState(io, options, {
      health: {},
      status: {},
      "system-presence": {},
      "device.pair.list": {},
    });
    const issues =
      options.all === true ? await everyIssue(io) : state.unchecked.issues.map((issue) => describe(issue, io));
    if (io.json) io.print(toJson(factsOf(io, state, issues, options.all === true)));
    else io.print(linesOf(io, state, issues, options.all === true).join("\n"));
    return 0;
  },
});

/** Loads the schema, so only with --all. */
async function everyIssue(io: Io): Promise<string[]> {
  const { loadConfig } = await import("../../config/load.ts");
  return loadConfig({ paths: io.paths(), env: io.env }).issues.map((issue) => describe(issue, io));
}

function factsOf(
  io: Io,
  { unchecked, target, owner, probe }: GatewayState,
  issues: readonly string[],
  all: boolean,
): Record<string, unknown> {
  const answers = (probe.ok ? probe.answers : {}) as Answers;
  return {
    ...answers.status,
    version: readVersion(),
    config: { path: unchecked.file, exists: unchecked.exists, issues },
    stateDir: io.paths().state,
    gateway: {
      running: probe.ok,
      url: target.url,
      from: target.from,
      pid: owner?.pid ?? null,
      ...(probe.ok
        ? {
            version: probe.hello.server.version,
            uptimeMs: probe.hello.snapshot.uptimeMs,
            ...(all ? { methods: probe.hello.features.methods } : {}),
          }
        : {}),
      ...(!probe.ok && probe.error !== undefined
        ? { error: { code: probe.error.code, message: probe.error.message, hint: probe.error.hint } }
        : {}),
    },
    health: answers.health ?? null,
    presence: answers["system-presence"] ?? [],
    devices: {
      paired: answers["device.pair.list"]?.paired?.length ?? null,
      waiting: answers["device.pair.list"]?.pending?.length ?? null,
    },
  };
}

function linesOf(io: Io, state: GatewayState, issues: readonly string[], all: boolean): string[] {
  const { probe, unchecked } = state;
  const rows: (readonly [string, string])[] = [
    ["Config", configText(io, unchecked, issues)],
    ["State", shortPath(io.paths().state, io)],
    ["Gateway", gatewayText(io, state)],
    ...(probe.ok ? liveRows(probe.answers) : []),
    ...(all && probe.ok
      ? [
          ["Connected", presenceText(probe.answers)] as const,
          ["Methods", probe.hello.features.methods.map(oneLine).join(" ")] as const,
        ]
      : []),
  ];
  return [
    io.paint.strong(`OpenClaw ${readVersion()} status`),
    ...columns(rows, { width: io.width }),
    ...nextStep(io, state, issues),
  ];
}

function configText(io: Io, unchecked: GatewayState["unchecked"], issues: readonly string[]): string {
  const path = shortPath(unchecked.file, io);
  if (!unchecked.exists) return `${path} (does not exist yet)`;
  if (issues.length === 0) return path;
  return [`${path} ${io.paint.bad("is broken:")}`, ...issues.slice(0, 8).map(oneLine)].join("\n");
}

function gatewayText({ paint }: Io, { probe, target, owner }: GatewayState): string {
  if (probe.ok)
    return `${paint.good("running")} at ${target.url}, version ${oneLine(probe.hello.server.version)}, up ${formatDuration(probe.hello.snapshot.uptimeMs)}${owner === undefined ? "" : ` (process ${owner.pid})`}`;
  if (probe.error !== undefined) return paint.bad(oneLine(probe.error.message));
  return `${paint.warn("not running")} (${target.url})`;
}

function liveRows(answered: Readonly<Record<string, unknown>>): (readonly [string, string])[] {
  const { health, status, "device.pair.list": devices } = answered as Answers;
  const agents = (health?.agents ?? []).map(
    ({ agentId, isDefault }) => `${oneLine(agentId)}${isDefault === true ? " (default)" : ""}`,
  );
  const recent = status?.sessions?.recent?.[0];
  const waiting = devices?.pending?.length ?? 0;
  return [
    ["Agents", agents.join(", ") || "none"],
    [
      "Sessions",
      `${status?.sessions?.count ?? 0}${recent === undefined ? "" : `, last ${oneLine(recent.key)} ${formatDuration(recent.age)} ago`}`,
    ],
    [
      "Devices",
      `${devices?.paired?.length ?? 0} paired${waiting === 0 ? "" : `, ${waiting} waiting: openclaw devices list`}`,
    ],
    ["Channels", (health?.channelOrder ?? []).map(oneLine).join(", ") || "none"],
  ];
}

function presenceText(answered: Readonly<Record<string, unknown>>): string {
  return ((answered as Answers)["system-presence"] ?? []).map(({ text }) => oneLine(text)).join("\n");
}

function nextStep(io: Io, { probe, unchecked, target }: GatewayState, issues: readonly string[]): string[] {
  if (issues.length > 0) return ["", "Next: openclaw config validate"];
  if (probe.ok) return ["", "Next: openclaw dashboard"];
  if (probe.error?.hint !== undefined) return ["", `Next: ${probe.error.hint}`];
  if (!target.isLocal)
    return ["", `Next: start the gateway on its machine, or change ${io.paint.strong("gateway.remote.url")}`];
  return ["", `Next: openclaw gateway run${unchecked.exists ? "" : " --setup"}`];
}
