// `openclaw system heartbeat enable`.
import { heartbeatSwitch } from "../heartbeat-switch.ts";

export const command = heartbeatSwitch(true, {
  summary: "Switch heartbeats on.",
  examples: [{ line: "system heartbeat enable", does: "agents look around again, and hear what waited" }],
});
