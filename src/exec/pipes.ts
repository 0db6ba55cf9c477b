// A pool of real pipes for commands. Node gives children socket pairs, which break `> /dev/stderr` and `< /dev/stdin`
// and lose the order of output and errors, so named pipes are created in batches, opened and unlinked immediately.
import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";

import { OpenClawError } from "../core/error.ts";
import type { Launcher } from "./launcher.ts";

/** Each command takes two pipes, so one `mkfifo` serves 32 commands. */
const BATCH = 64;
const REFILL_BELOW = 16;

/** The child's end blocks, as programs expect; the gateway's end does not. */
export interface Pipe {
  readonly ours: number;
  readonly theirs: number;
}

/** Rejects with `exec.start-failed`; the next command tries again. */
export interface PipePool {
  take(towards: "child" | "us"): Promise<Pipe>;
  /** A pipe between two children: the second reads what the first writes. */
  takeLink(): Promise<{ readonly read: number; readonly write: number }>;
}

export function createPipePool(parentFolder: () => Promise<string>, launcher: Launcher): PipePool {
  const free: string[] = [];
  let batches = 0;
  let filling: Promise<void> | undefined;

  const fill = async (): Promise<void> => {
    const folder = join(await parentFolder(), "pipes");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const batch = (batches += 1);
    const names = Array.from({ length: BATCH }, (_, at) => join(folder, `${batch}-${at}`));
    await makePipes(names, folder, launcher);
    free.push(...names);
  };
  const refill = async (): Promise<void> => {
    filling ??= fill().finally(() => {
      filling = undefined;
    });
    return filling;
  };
  const path = async (): Promise<string> => {
    for (;;) {
      const name = free.pop();
      // Refilled in advance; a failure is reported to the command that finds the pool empty.
      if (free.length < REFILL_BELOW && name !== undefined) refill().catch(() => undefined);
      if (name !== undefined) return name;
      await refill().catch((error: unknown) => Promise.reject(noPipes(error)));
    }
  };

  return {
    async take(towards) {
      const ends = openBoth(await path(), towards === "us");
      return towards === "us" ? { ours: ends.read, theirs: ends.write } : { ours: ends.write, theirs: ends.read };
    },
    takeLink: async () => openBoth(await path(), false),
  };
}

/** The reader is opened first without blocking. A child needs a blocking reader, so for a child it is opened again. */
function openBoth(name: string, readerIsOurs: boolean): { readonly read: number; readonly write: number } {
  const { O_RDONLY, O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const first = openSync(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  try {
    const write = openSync(name, O_WRONLY | O_NOFOLLOW);
    if (readerIsOurs) return { read: first, write };
    const read = openSync(name, O_RDONLY | O_NOFOLLOW);
    closeSync(first);
    return { read, write };
  } finally {
    unlinkSync(name);
  }
}

/** Started by the launcher, because forking the gateway itself would block its event loop for milliseconds. */
async function makePipes(names: readonly string[], folder: string, launcher: Launcher): Promise<void> {
  const errors = join(folder, "mkfifo.err");
  const errorLog = await open(errors, "w", 0o600);
  try {
    const { exited } = await launcher.launch({
      program: "mkfifo",
      args: ["-m", "600", ...names],
      argv0: "mkfifo",
      cwd: "/",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      stdio: ["ignore", "ignore", errorLog.fd],
    });
    const { code } = await exited;
    if (code === 0) return;
    const [why = ""] = (await readFile(errors, "utf8")).split("\n");
    throw new Error(why === "" ? `mkfifo ended with ${code}` : why);
  } finally {
    await errorLog.close();
  }
}

function noPipes(cause: unknown): OpenClawError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new OpenClawError("exec.start-failed", `could not create pipes for commands: ${why}`, {
    hint: "install mkfifo, and make the state folder writable on a file system with named pipes",
    cause,
  });
}
