// `openclaw usage`: shows the cost of models, day by day.
import type { UsageCostReport, UsageTotals } from "../../protocol/methods/usage.ts";
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import { wholeNumber } from "../parse.ts";
import { table, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

type Day = UsageCostReport["daily"][number];

export const command = defineCommand({
  options: {
    days: { type: "string", value: "n", description: "Number of days (default: 7)." },
    agent: { type: "string", value: "id", description: "Only this agent." },
    ...wireOptions,
  },
  examples: [
    { line: "usage", does: "the last week" },
    { line: "usage --days 30 --agent support --json", does: "a month of one agent, as JSON" },
  ],
  async run(io, { options }) {
    const days = wholeNumber("days", options.days, { min: 1, max: 3660 }) ?? 7;
    await requireConfigUnless(options.url !== undefined, io);
    const params = { days, ...(options.agent === undefined ? {} : { agentId: options.agent }) };
    const report = await withGateway(io, await targetOf(io, options), (client) => client.call("usage.cost", params));
    if (io.json) io.print(toJson(report));
    else io.print(linesOf(report.daily, report.totals, days, io).join("\n"));
    return 0;
  },
});

function linesOf(daily: readonly Day[], totals: UsageTotals, days: number, io: Parameters<typeof table>[2]): string[] {
  if (totals.totalTokens === 0) return [`No model was used in the last ${days} days.`];
  const rows = [...daily.filter(({ totalTokens }) => totalTokens > 0), { date: "all", ...totals }];
  const unpriced = totals.missingCostEntries;
  return [
    ...table(rows, shape, io),
    ...(unpriced === 0
      ? []
      : [
          "",
          `${unpriced} replies came from models without a price; set prices in models.providers.<id>.models[].cost`,
        ]),
  ];
}

const shape = [
  { title: "Day", text: ({ date }: Day) => date },
  { title: "Input", text: ({ input }: Day) => String(input) },
  { title: "Cached", text: ({ cacheRead }: Day) => String(cacheRead) },
  { title: "Hit rate", text: hitRate },
  { title: "Output", text: ({ output }: Day) => String(output) },
  { title: "Tokens", text: ({ totalTokens }: Day) => String(totalTokens) },
  { title: "Cost", text: ({ totalCost }: Day) => `$${totalCost.toFixed(4)}` },
];

/** Share of the input tokens that came from the vendor's cache. */
function hitRate({ input, cacheRead, cacheWrite }: Day): string {
  const read = input + cacheRead + cacheWrite;
  return read === 0 ? "" : `${Math.round((100 * cacheRead) / read)}%`;
}
