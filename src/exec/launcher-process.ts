// The launcher: a small process that starts programs for the gateway, because a fork costs more the larger the forking
// process is. Reads one request per line; answers with the pid or the error, and later with the exit.
import { spawn, type StdioOptions } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { createInterface } from "node:readline";

import type { LaunchAnswer, LaunchRequest } from "./launcher.ts";

const requests = createInterface({ input: process.stdin });
requests.on("line", (line) => launch(JSON.parse(line) as LaunchRequest));
// The gateway is gone; the orphan reaper ends what is left.
requests.on("close", () => process.exit(0));

function launch({ id, program, args, argv0, cwd, env, stdio }: LaunchRequest): void {
  const opened = new Map<string, number>();
  try {
    const files: StdioOptions = stdio.map((file) => {
      if (file === "ignore") return "ignore";
      const known = opened.get(file.path);
      if (known !== undefined) return known;
      const fd = openSync(file.path, file.writes ? constants.O_WRONLY : constants.O_RDONLY);
      opened.set(file.path, fd);
      return fd;
    });
    const child = spawn(program, args, { cwd, env, argv0, stdio: files, detached: true });
    child.once("error", (error: NodeJS.ErrnoException) =>
      answer({ id, error: { code: error.code, message: error.message } }),
    );
    child.once("exit", (code, signal) => answer({ id, exit: { code, signal } }));
    if (child.pid !== undefined) answer({ id, pid: child.pid });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    answer({ id, error: { code, message } });
  } finally {
    for (const fd of opened.values()) closeSync(fd);
  }
}

function answer(message: LaunchAnswer): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
