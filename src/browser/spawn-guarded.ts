// Starts the browser where the gateway's own files do not exist: whoever reaches its debugging port, such as a command
// that an allowlist entry started, could otherwise read them as file:// pages.
import { spawn } from "node:child_process";

import type { Log } from "../base/log.ts";
import { createGuard } from "../exec/guard.ts";
import type { GuardedPaths } from "../exec/guard/guarded-paths.ts";
import type { SpawnBrowser } from "./launch.ts";

/** The data folder of the browser stays visible. */
export type HiddenPaths = (userData: string) => GuardedPaths;

export function createGuardedSpawn(hiddenPaths: HiddenPaths, log: Pick<Log, "warn">): SpawnBrowser {
  const guard = createGuard();
  return async ({ program, args, userData, env }) => {
    const plain = { argv: [program, ...args], cwd: userData, env };
    const paths = hiddenPaths(userData);
    // The profile of macOS cannot contain a browser, which brings its own.
    const answer = process.platform === "linux" ? await guard.works(paths) : { works: false as const, reason: "" };
    if (!answer.works && answer.reason !== "")
      log.warn("the browser can read the gateway's own files", { reason: answer.reason });
    const { argv, cwd } = answer.works ? await guard.wrap(plain, paths) : plain;
    const [first = program, ...rest] = argv;
    return spawn(first, rest, { cwd, env, stdio: ["ignore", "ignore", "pipe"], detached: true });
  };
}
