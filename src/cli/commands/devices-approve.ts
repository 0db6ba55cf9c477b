// `openclaw devices approve`: approves a pairing request.
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import { oneLine, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

export const command = defineCommand({
  arguments: [{ name: "request", description: "The request id, from openclaw devices list." }],
  options: wireOptions,
  examples: [
    {
      line: "devices approve 6f1c0b7e-…",
      does: "the id is in openclaw devices list and in the error message of the device",
    },
  ],
  async run(io, { options, arguments: [requestId = ""] }) {
    await requireConfigUnless(options.url !== undefined, io);
    const answer = await withGateway(io, await targetOf(io, options), (client) =>
      client.call("device.pair.approve", { requestId }),
    );
    const { clientId, platform, roles } = answer.device;
    io.print(
      io.json
        ? toJson(answer)
        : oneLine(`approved: ${clientId} on ${platform} as ${roles.join(", ")}. It can connect now.`),
    );
    return 0;
  },
});
