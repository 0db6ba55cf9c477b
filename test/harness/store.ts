// Stores under faults, as tests share them: a writer that is killed, a file of its own, a small disk, and whether a store is sound.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";

import { verifyStore } from "../../src/store/verify.ts";

/** How often, and from 500 on at how many offsets. */
export const rounds = Number(process.env["OPENCLAW_FAULT_ROUNDS"] ?? 15);

const writerFile = fileURLToPath(new URL("../fixtures/store-writer.ts", import.meta.url));

/** Fails with the checks that do not hold. */
export async function assertSound(file: string): Promise<void> {
  const { checks } = await verifyStore(file);
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  );
}

interface Line {
  readonly session: string;
  readonly last: number;
}

interface Writer {
  readonly ready: Promise<void>;
  readonly stopped: Promise<void>;
  atLeast(lines: number): Promise<void>;
  /** Kills it and gives every append it had acknowledged. */
  kill(): Promise<Line[]>;
}

export function startWriter(
  file: string,
  sessions: string,
  prefix = "s",
  bytes = "60",
  stderr: "inherit" | "ignore" = "inherit",
): Writer {
  const child = spawn(process.execPath, [writerFile, file, sessions, prefix, bytes], {
    stdio: ["ignore", "pipe", stderr],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const closed = once(child, "close");
  const linesOf = (): Line[] =>
    output
      .slice(0, output.lastIndexOf("\n") + 1)
      .split("\n")
      .filter((line) => line !== "" && line !== "ready")
      .map((line) => ({ session: line.split(" ")[0] ?? "", last: Number(line.split(" ")[1]) }));
  const until = async (isThere: () => boolean): Promise<void> => {
    const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
    while (!isThere() && isRunning()) await Promise.race([once(child.stdout, "data"), closed]);
  };
  return {
    ready: until(() => output.includes("ready\n")),
    stopped: closed.then(() => {}),
    atLeast: (count) => until(() => linesOf().length >= count),
    async kill() {
      child.kill("SIGKILL");
      await closed;
      return linesOf();
    },
  };
}

export function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "fault-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "openclaw.sqlite");
}

/** A small disk of its own; undefined, with the test skipped, where that cannot be had. */
export function mountSmall(t: TestContext, size: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "fault-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=700`, "tmpfs", folder], { stdio: "pipe" });
  } catch (error) {
    rmSync(folder, { recursive: true });
    t.skip(`needs the right to mount a small tmpfs (${String(error).split("\n")[0]})`);
    return undefined;
  }
  t.after(() => {
    execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
}
