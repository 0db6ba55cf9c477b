// `openclaw devices reject`: rejects a pairing request.
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import { oneLine, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

export const command = defineCommand({
  arguments: [{ name: "request", description: "The request id, from openclaw devices list." }],
  options: wireOptions,
  examples: [{ line: "devices reject 6f1c0b7e-…", does: "the device can ask again" }],
  async run(io, { options, arguments: [requestId = ""] }) {
    await requireConfigUnless(options.url !== undefined, io);
    const answer = await withGateway(io, await targetOf(io, options), (client) =>
      client.call("device.pair.reject", { requestId }),
    );
    io.print(io.json ? toJson(answer) : oneLine(`rejected the request of device ${answer.deviceId.slice(0, 12)}`));
    return 0;
  },
});
