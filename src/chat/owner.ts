// Commands that change settings need the same rights as other ways to change them (GWY-045 in test/attack/README.md).
import { OpenClawError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import type { Admin } from "../tool/admin.ts";
import type { CommandRun } from "./command-run.ts";

/** Returns the admin service, or throws when the sender may not use it. */
export function adminIn(commandRun: CommandRun, command: string): Admin {
  const { context, deps, config } = commandRun;
  requireAdmin(commandRun, command);
  const channel = (config.channels as Readonly<Record<string, unknown>> | undefined)?.[context.source];
  if (isClosed(channel)) {
    throw new OpenClawError("chat.no-config-writes", `Settings are not changed from ${visible(context.source, 40)}.`, {
      hint: `openclaw config set channels.${visible(context.source, 40)}.configWrites true`,
    });
  }
  if (deps.admin !== undefined) return deps.admin();
  throw new OpenClawError("tool.needs-gateway", `/${command} works only inside the running gateway`, {
    hint: "openclaw gateway run",
  });
}

/** Reading settings needs the same right as changing them: config.get needs `operator.admin` too. */
export function requireAdmin({ context }: CommandRun, command: string): void {
  if (context.admin !== true) {
    throw new OpenClawError("chat.not-admin", `You may not use /${command} here; nothing was changed.`, {
      hint: "it needs the scope operator.admin, or the owner of this gateway",
    });
  }
}

function isClosed(channel: unknown): boolean {
  return typeof channel === "object" && channel !== null && "configWrites" in channel && channel.configWrites === false;
}

/** `set a.b 1`, `set a.b=1`, `set a["x y"] = 1`, `unset a.b`, `show`: the word, the path, and the value as written. */
export function settingWords(args: string): readonly [action: string, path: string, value: string] {
  const [, action = "", rest = ""] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(args) ?? [];
  const [, path = rest, value = ""] = /^((?:\[[^\]]*\]|[^\s=[\]])+)(?:\s*=\s*|\s+)([\s\S]+)$/.exec(rest) ?? [];
  return [action.toLowerCase(), path, value];
}
