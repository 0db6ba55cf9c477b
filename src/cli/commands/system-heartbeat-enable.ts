// `openclaw system heartbeat enable`.
import { heartbeatSwitch } from "../heartbeat-switch.ts";

export const command = heartbeatSwitch(true, {
  examples: [{ line: "system heartbeat enable", does: "agents look around again, and hear what waited" }],
});
