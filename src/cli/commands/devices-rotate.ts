// `openclaw devices rotate`: replaces a token of a device.
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import { deviceOptions, fullDeviceId, requireRole } from "../device-choice.ts";
import { toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

export const command = defineCommand({
  options: {
    ...deviceOptions,
    scope: {
      type: "string",
      multiple: true,
      value: "scope",
      description: "Scopes of the new token (default: the current ones).",
    },
    ...wireOptions,
  },
  examples: [
    { line: "devices rotate --device 3f2a9c --role operator", does: "a new token with the same scopes" },
    {
      line: "devices rotate --device 3f2a9c --role operator --scope operator.read",
      does: "a token that can only read",
    },
  ],
  async run(io, { options }) {
    await requireConfigUnless(options.url !== undefined, io);
    const { role, scope } = options;
    const answer = await withGateway(io, await targetOf(io, options), async (client) => {
      const deviceId = await fullDeviceId(client, options.device);
      return client.call("device.token.rotate", {
        deviceId,
        role: requireRole(role),
        ...(scope === undefined ? {} : { scopes: scope }),
      });
    });
    io.print(io.json ? toJson(answer) : `new token of device ${answer.deviceId.slice(0, 12)}: ${answer.token}`);
    if (!io.json) io.say("It is shown only once; transfer it to the device over a secure channel.");
    return 0;
  },
});
