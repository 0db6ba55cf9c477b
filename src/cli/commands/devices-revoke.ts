// `openclaw devices revoke`: revokes a token of a device.
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import { deviceOptions, fullDeviceId, requireRole } from "../device-choice.ts";
import { toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

export const command = defineCommand({
  options: { ...deviceOptions, ...wireOptions },
  examples: [{ line: "devices revoke --device 3f2a9c --role operator", does: "for a lost laptop" }],
  async run(io, { options }) {
    await requireConfigUnless(options.url !== undefined, io);
    const answer = await withGateway(io, await targetOf(io, options), async (client) => {
      const deviceId = await fullDeviceId(client, options.device);
      return client.call("device.token.revoke", { deviceId, role: requireRole(options.role) });
    });
    io.print(io.json ? toJson(answer) : `revoked the ${answer.role} token of device ${answer.deviceId.slice(0, 12)}`);
    return 0;
  },
});
