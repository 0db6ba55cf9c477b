// Whether an agent has a memory at all: the config decides, nothing is looked up.
import { disabledBy } from "../../memory/settings.ts";
import type { Availability, ToolEnv } from "../tool.ts";

export function memoryAvailable({ config, agent }: ToolEnv): Availability {
  const closed = disabledBy(config, agent);
  return closed === undefined ? { available: true } : { available: false, ...closed };
}
