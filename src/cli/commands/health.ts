// `openclaw health`: asks the gateway for its health, for people and for monitoring.
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import { columns, counted, oneLine, toJson } from "../print.ts";
import { targetOf, wireOptions } from "../target.ts";

interface Health {
  readonly ok: boolean;
  readonly defaultAgentId?: string;
  readonly agents?: readonly { readonly agentId: string; readonly sessions?: { readonly count: number } }[];
  readonly sessions?: { readonly count: number };
  readonly channelOrder?: readonly string[];
  readonly loopDelayP99Ms?: number;
  readonly droppedLogLines?: number;
}

export const command = defineCommand({
  options: wireOptions,
  examples: [
    { line: "health", does: "whether the gateway is healthy" },
    { line: "health --json --timeout 3000", does: "for monitoring" },
  ],
  exits: "0 healthy, 1 not reachable or not healthy, 2 wrong usage",
  async run(io, { options }) {
    const target = await targetOf(io, options);
    const started = performance.now();
    const health = await withGateway(io, target, (client) => client.call("health", { probe: true }));
    const ms = Math.round(performance.now() - started);
    if (io.json) io.print(toJson(health));
    else io.print(columns(rowsOf(health, target.url, ms, io.paint.good), { width: io.width }).join("\n"));
    return health.ok ? 0 : 1;
  },
});

function rowsOf(
  health: Health,
  url: string,
  ms: number,
  good: (text: string) => string,
): (readonly [string, string])[] {
  const { ok, agents = [], sessions, channelOrder = [], defaultAgentId, loopDelayP99Ms, droppedLogLines = 0 } = health;
  const names = agents.map(
    ({ agentId, sessions: own }) =>
      `${oneLine(agentId)}${agentId === defaultAgentId ? " (default)" : ""}, ${counted(own?.count ?? 0, "session")}`,
  );
  return [
    ["Gateway", `${ok ? good("healthy") : "not healthy"} (${url}, answered in ${ms} ms)`],
    ["Agents", names.join("; ") || "none"],
    ["Sessions", String(sessions?.count ?? 0)],
    ["Channels", channelOrder.map(oneLine).join(", ") || "none"],
    ...(loopDelayP99Ms === undefined ? [] : [["Delay", `${loopDelayP99Ms.toFixed(1)} ms (event loop, p99)`] as const]),
    ...(droppedLogLines === 0 ? [] : [["Log", `${droppedLogLines} lines could not be written`] as const]),
  ];
}
