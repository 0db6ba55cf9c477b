// `openclaw sessions list`: the sessions the gateway knows, newest first.
import { systemClock } from "../../base/clock.ts";
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import { wholeNumber } from "../parse.ts";
import { span, table, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

interface Row {
  readonly key: string;
  readonly updatedAt: number;
  readonly label?: string;
  readonly displayName?: string;
  readonly model?: string | null;
  readonly totalTokens?: number;
}

export const command = defineCommand({
  summary: "List the sessions of the gateway, newest first.",
  options: {
    agent: { type: "string", value: "id", description: "Only those of one agent." },
    active: { type: "string", value: "minutes", description: "Only those that changed in the last minutes." },
    search: { type: "string", value: "text", description: "Only those with this in key, label or title." },
    limit: { type: "string", value: "n", description: "At most so many; 50 unless said." },
    ...wireOptions,
  },
  examples: [
    { line: "sessions", does: "the last fifty" },
    { line: "sessions --agent support --active 60 --json", does: "what moved in the last hour, for programs" },
  ],
  async run(io, { options }) {
    const { agent, active, search } = options;
    const activeMinutes = wholeNumber("active", active, { min: 1, max: 5_256_000 });
    const params = {
      limit: wholeNumber("limit", options.limit, { min: 1, max: 1000 }) ?? 50,
      ...(agent === undefined ? {} : { agentId: agent }),
      ...(activeMinutes === undefined ? {} : { activeMinutes }),
      ...(search === undefined ? {} : { search }),
    };
    await requireConfigUnless(options.url !== undefined, io);
    const list = (await withGateway(io, await targetOf(io, options), (client) =>
      client.call("sessions.list", params),
    )) as { count: number; sessions: Row[] };
    if (io.json) io.print(toJson(list));
    else if (list.sessions.length === 0) io.print("No sessions yet.");
    else io.print(table(list.sessions, shape, io).join("\n"));
    return 0;
  },
});

const shape = [
  { title: "Session", text: ({ key }: Row) => key },
  { title: "Name", text: ({ label, displayName }: Row) => label ?? displayName ?? "" },
  { title: "Changed", text: ({ updatedAt }: Row) => `${span(systemClock.now() - updatedAt)} ago` },
  { title: "Tokens", text: ({ totalTokens = 0 }: Row) => String(totalTokens) },
  { title: "Model", text: ({ model }: Row) => model ?? "" },
];
