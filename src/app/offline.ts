// The same tools without a server, for the command line when no gateway runs. The state lock keeps it alone.
import { HouseError } from "../core/error.ts";
import { resolvePaths, type Env } from "../base/paths.ts";
import { readEnvironment } from "../config/environment.ts";
import { loadConfig } from "../config/load.ts";
import { openHouse, type House } from "./house.ts";

export async function openOffline(env: Env, profile?: string): Promise<House> {
  const paths = resolvePaths(env, profile);
  const full = readEnvironment({ paths, env });
  const loaded = loadConfig({ paths, env: full });
  if (!loaded.valid)
    throw new HouseError("config.invalid", "the config is not valid", {
      hint: "openclaw config validate",
      details: { issues: loaded.issues },
    });
  return openHouse({ paths, env: full, loaded, consoleLevel: "silent" });
}
