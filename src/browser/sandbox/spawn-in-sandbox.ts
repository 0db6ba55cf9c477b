// Starts a browser inside a bubblewrap sandbox: system programs, its own data folder, and two sockets instead of a network.
import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

import { NO_DEBUGGER } from "../../base/no-debugger.ts";
import type { Mount } from "../../exec/sandbox.ts";
import { isWithin } from "../../exec/sandbox/hidden-paths.ts";
import type { BrowserSandbox } from "../../exec/sandboxes.ts";
import { browserError } from "../errors.ts";
import type { SpawnBrowser } from "../launch.ts";
import type { BridgeSockets } from "./sockets.ts";

const NODE = "/run/openclaw/node";

export function spawnInSandbox(sandbox: BrowserSandbox, sockets: BridgeSockets): SpawnBrowser {
  return async ({ program, args, userData, env, cdpPort, proxyPort = 0 }) => {
    const bridge = bridgeMount();
    const opened = sandbox.open([
      // The same path as outside, where the process is found by it.
      { inside: userData, host: userData, writable: true },
      { inside: NODE, host: realpathSync(process.execPath), writable: false },
      bridge,
      ...programMounts(program),
      ...sockets.mounts,
    ]);
    await sockets.listen(proxyPort);
    const locale = Object.fromEntries(
      Object.entries(env).filter(([name]) => /^(?:LANG|LANGUAGE|LC_.*|TZ)$/.test(name)),
    );
    const launch = await opened.launch({
      argv: [NODE, NO_DEBUGGER, bridge.inside, String(cdpPort), String(proxyPort), program, ...args],
      cwd: "/",
      env: locale,
      tty: false,
    });
    const [shell = "", ...words] = launch.argv;
    const child = spawn(shell, words, {
      cwd: launch.cwd,
      env: launch.env,
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    child.once("close", () => launch.gone?.());
    return child;
  };
}

/** In the bundle the file lies beside this one; otherwise it is the source file. */
function bridgeMount(): Mount {
  const bundled = fileURLToPath(new URL("./browser-bridge.js", import.meta.url));
  return existsSync(bundled)
    ? { inside: "/run/openclaw/bridge.mjs", host: bundled, writable: false }
    : {
        inside: "/run/openclaw/bridge.mts",
        host: fileURLToPath(new URL("./bridge-process.ts", import.meta.url)),
        writable: false,
      };
}

/** A browser outside of the system folders brings the folder it is in, such as /opt/google/chrome. */
function programMounts(program: string): Mount[] {
  const real = realpathSync(program);
  if (["/usr", "/bin", "/sbin"].some((folder) => isWithin(real, folder))) return [];
  const folder = dirname(real);
  if (isWithin(real, "/opt") && folder !== "/opt") return [{ inside: folder, host: folder, writable: false }];
  throw browserError("browser.no-program", `the browser ${program} cannot be shown to a sandbox`, {
    hint: "install one below /usr or /opt (apt-get install chromium), or set browser.executablePath to such a one",
  });
}
