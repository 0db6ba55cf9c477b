// Real pipes for commands. Node gives children socket pairs, on which `> /dev/stderr` and `< /dev/stdin` fail and the order of
// output and errors is lost; so named pipes are made in batches, opened, and unlinked at once.
import { execFile } from "node:child_process";
import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

/** Two a command: one `mkfifo` for 32 commands. */
const BATCH = 64;
const REFILL_BELOW = 16;

/** The child's end waits on reads and writes as programs expect; ours never does. */
export interface Pipe {
  readonly ours: number;
  readonly theirs: number;
}

export interface PipePool {
  /** Undefined when this machine has no named pipes; the caller takes what Node has. */
  take(towards: "child" | "us"): Promise<Pipe | undefined>;
  /** Between two children: what the first writes the second reads. */
  takeLink(): Promise<{ readonly read: number; readonly write: number } | undefined>;
}

export function createPipePool(folder: () => Promise<string>): PipePool {
  const free: string[] = [];
  let batches = 0;
  let filling: Promise<void> | undefined;
  let isUnsupported = false;

  const fill = async (): Promise<void> => {
    const place = join(await folder(), "pipes");
    await mkdir(place, { recursive: true, mode: 0o700 });
    const batch = (batches += 1);
    const names = Array.from({ length: BATCH }, (_, at) => join(place, `${batch}-${at}`));
    isUnsupported = !(await makePipes(names));
    if (!isUnsupported) free.push(...names);
  };
  const refill = async (): Promise<void> => {
    filling ??= fill().finally(() => {
      filling = undefined;
    });
    return filling;
  };
  const path = async (): Promise<string | undefined> => {
    while (free.length === 0 && !isUnsupported) await refill();
    if (free.length < REFILL_BELOW && !isUnsupported) refill().catch(() => (isUnsupported = true));
    return free.pop();
  };

  return {
    async take(towards) {
      const name = await path();
      if (name === undefined) return undefined;
      const ends = openBoth(name, towards === "us");
      return towards === "us" ? { ours: ends.read, theirs: ends.write } : { ours: ends.write, theirs: ends.read };
    },
    async takeLink() {
      const name = await path();
      return name === undefined ? undefined : openBoth(name, false);
    },
  };
}

/** The reader comes first and must not wait; if it is the child's it is opened again, since a child does want to wait. */
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

async function makePipes(names: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile("mkfifo", ["-m", "600", ...names], { env: { PATH: "/usr/local/bin:/usr/bin:/bin" } }, (error) =>
      resolve(error === null),
    );
  });
}
