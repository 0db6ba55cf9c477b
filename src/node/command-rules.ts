// Decides which commands operators may send to a node. Pure.
import { OpenClawError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import type { Config } from "../config/schema/index.ts";

/** Camera, screen and messages of a person's device: only when the owner lists them. */
const intimate: ReadonlySet<string> = new Set(["camera.snap", "camera.clip", "screen.record", "sms.send"]);

/** The approvals file has its own methods and scope; here an operator with write access could change its own limits. */
const neverInvoked = /^system\.execApprovals\./i;

/** Throws `node.command-refused` for a command that may not be sent. */
export function requireInvokable(command: string, nodeId: string, config: Config): void {
  const { allowCommands = [], denyCommands = [] } = config.gateway?.nodes ?? {};
  if (neverInvoked.test(command.trim()))
    throw refused(
      command,
      "use exec.approvals.node.get and exec.approvals.node.set",
      `openclaw approvals get --node ${visible(nodeId, 100)}`,
    );
  if (denyCommands.includes(command)) throw refused(command, "command denied", "gateway.nodes.denyCommands");
  if (intimate.has(command) && !allowCommands.includes(command))
    throw refused(command, "command not allowlisted", "gateway.nodes.allowCommands");
}

function refused(command: string, reason: string, hint: string): OpenClawError {
  return new OpenClawError("node.command-refused", "node command not allowed", {
    hint,
    details: { reason, command: visible(command, 100) },
  });
}
