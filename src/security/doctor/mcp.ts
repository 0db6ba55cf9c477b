// MCP servers whose tools changed since the owner approved them.
import { createPins } from "../../mcp/client/pins.ts";
import { pendingChanges } from "../../mcp/client/pending-changes.ts";
import { usedServers } from "../../mcp/client/servers.ts";
import { ok, type Check, type Finding } from "./check.ts";

export const mcp: Check = {
  name: "MCP servers",
  needsConfig: true,
  run({ paths, loaded: { config } }) {
    const changes = pendingChanges(config, createPins(paths.state));
    if (changes.length > 0)
      return changes.map(({ text, fix }): Finding => ({ level: "warn", message: text, hint: fix }));
    const { length } = usedServers(config);
    return [ok(length === 0 ? "none configured" : `${length} configured, no changed tools`)];
  },
};
