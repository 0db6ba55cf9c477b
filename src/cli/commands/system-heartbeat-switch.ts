// `openclaw system heartbeat enable` and `disable`: turns heartbeats on and off.
import { withGateway } from "../client.ts";
import { defineCommand, type Command } from "../command.ts";
import { toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { systemOptions, targetOf } from "../target.ts";

export const enable = heartbeatSwitch(true, {
  examples: [{ line: "system heartbeat enable", does: "the next heartbeat reads the notes that waited" }],
});

export const disable = heartbeatSwitch(false, {
  details:
    "The gateway then starts no turn by itself, also after a restart. Notes for the agent wait for the next message.",
  examples: [{ line: "system heartbeat disable", does: "no turn without a message" }],
});

function heartbeatSwitch(enabled: boolean, text: Pick<Command, "details" | "examples">): Command {
  return defineCommand({
    ...text,
    options: systemOptions,
    async run(io, { options }) {
      await requireConfigUnless(options.url !== undefined, io);
      const answer = await withGateway(io, await targetOf(io, options), (client) =>
        client.call("set-heartbeats", { enabled }),
      );
      io.print(io.json ? toJson(answer) : `Heartbeats are ${enabled ? "on" : "off"}.`);
      return 0;
    },
  });
}
