// Commands that change settings of the house: only for who may do that by any other way too (GWY-045).
import { HouseError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import type { Admin } from "../tool/admin.ts";
import type { Scene } from "./scene.ts";

/** The admin port for who may use it; else throws, saying that nothing was changed. */
export function adminIn({ context, deps, config }: Scene, command: string): Admin {
  if (context.admin !== true) {
    throw new HouseError("chat.not-admin", `You may not use /${command} here; nothing was changed.`, {
      hint: "it takes the scope operator.admin, or the owner of this gateway",
    });
  }
  const channel = (config.channels as Readonly<Record<string, unknown>> | undefined)?.[context.source];
  if (isClosed(channel)) {
    throw new HouseError("chat.no-config-writes", `Settings are not changed from ${visible(context.source, 40)}.`, {
      hint: `openclaw config set channels.${visible(context.source, 40)}.configWrites true`,
    });
  }
  if (deps.admin !== undefined) return deps.admin();
  throw new HouseError("tool.needs-gateway", `/${command} works only inside the running gateway`, {
    hint: "openclaw gateway run",
  });
}

function isClosed(channel: unknown): boolean {
  return typeof channel === "object" && channel !== null && "configWrites" in channel && channel.configWrites === false;
}

/** The first word, the second, and all that is left, as it was written. */
export function threeParts(args: string): readonly [action: string, path: string, rest: string] {
  const [, action = "", path = "", rest = ""] = /^\s*(\S*)\s*(\S*)\s*([\s\S]*?)\s*$/.exec(args) ?? [];
  return [action.toLowerCase(), path, rest];
}
