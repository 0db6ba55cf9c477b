// Which commands operators may send to a node at all. Pure.
import { OpenClawError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import type { Config } from "../config/schema/index.ts";

/** Eyes, ears and mouth of a person's machine: only when the owner lists them. */
const intimate: ReadonlySet<string> = new Set(["camera.snap", "camera.clip", "screen.record", "sms.send"]);

/** The approvals file has methods and a scope of its own; through here a writer would set its own limits. */
const neverInvoked = /^system\.execApprovals\./i;

/** Throws `node.no-command` for what may not be asked for. */
export function requireInvokable(command: string, config: Config): void {
  const { allowCommands = [], denyCommands = [] } = config.gateway?.nodes ?? {};
  if (neverInvoked.test(command.trim()))
    throw refused(command, "use exec.approvals.node.get and exec.approvals.node.set", "openclaw approvals get --node");
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
