// `openclaw gateway call`: calls one method of the wire protocol.
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import { parseObject } from "../json5.ts";
import { toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

export const command = defineCommand({
  arguments: [{ name: "method", description: "Name of the method, such as health or sessions.list." }],
  options: {
    params: { type: "string", value: "json5", description: "Parameters as an object." },
    "expect-final": {
      type: "boolean",
      description: "Wait for the final response of methods that first acknowledge and respond later.",
    },
    ...wireOptions,
  },
  examples: [
    { line: "gateway call health", does: "the health of the gateway" },
    { line: "gateway call sessions.list --params '{limit: 5}'", does: "five sessions" },
    {
      line: "gateway call tools.explain --params '{tool: \"exec\"}'",
      does: "the decision on a tool, as the page gets it",
    },
  ],
  async run(io, { options, arguments: [method = ""] }) {
    const params = parseObject(options.params ?? "{}", "--params");
    await requireConfigUnless(options.url !== undefined, io);
    const answer = await withGateway(io, await targetOf(io, options), (client) =>
      client.callByName(method, params, { expectFinal: options["expect-final"] === true }),
    );
    io.print(toJson(answer ?? null));
    return 0;
  },
});
