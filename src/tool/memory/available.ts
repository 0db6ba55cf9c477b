// Whether an agent has a memory, from the config alone.
import { disabledBy } from "../../memory/settings.ts";
import type { Availability, ToolEnv } from "../tool.ts";

export function memoryAvailable({ config, agent }: ToolEnv): Availability {
  const closed = disabledBy(config, agent);
  return closed === undefined ? { available: true } : { available: false, ...closed };
}
