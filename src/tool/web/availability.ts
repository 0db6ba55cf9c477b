// Whether a web tool is offered, from the config alone.
import type { Availability, ToolEnv } from "../tool.ts";

export function webAvailable(name: "search" | "fetch", { config }: ToolEnv): Availability {
  const key = `tools.web.${name}.enabled`;
  if (config.tools?.web?.[name]?.enabled !== false) return { available: true };
  return { available: false, reason: `${key} is false`, fix: `openclaw config set ${key} true` };
}
