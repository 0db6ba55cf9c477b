// Opens the tools without a server, for the command line when no gateway runs; the state lock excludes a gateway.
import { OpenClawError } from "../core/error.ts";
import { resolvePaths, type Env } from "../base/paths.ts";
import { readEnvironment } from "../config/environment.ts";
import { loadConfig } from "../config/load.ts";
import { openRuntime, type Runtime } from "./runtime.ts";

export async function openOffline(env: Env, profile?: string): Promise<Runtime> {
  const paths = resolvePaths(env, profile);
  const full = readEnvironment({ paths, env });
  const loaded = loadConfig({ paths, env: full });
  if (!loaded.valid)
    throw new OpenClawError("config.invalid", "the config is not valid", {
      hint: "openclaw config validate",
      details: { issues: loaded.issues },
    });
  return openRuntime({ paths, env: full, loaded, consoleLevel: "silent" });
}
