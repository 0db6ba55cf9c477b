// `openclaw system heartbeat enable` and `disable`: the same switch, two ways.
import { withGateway } from "./client.ts";
import { defineCommand, type Command } from "./command.ts";
import { toJson } from "./print.ts";
import { requireConfigUnless } from "./settings.ts";
import { systemOptions } from "./system-options.ts";
import { targetOf } from "./target.ts";

export function heartbeatSwitch(enabled: boolean, text: Pick<Command, "details" | "examples">): Command {
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
