// `openclaw system heartbeat disable`.
import { heartbeatSwitch } from "../heartbeat-switch.ts";

export const command = heartbeatSwitch(false, {
  details:
    "The gateway then begins no turn by itself; what it has to tell waits for the next message. Also after a restart.",
  examples: [{ line: "system heartbeat disable", does: "no turn without a message" }],
});
