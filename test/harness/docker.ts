// A real Docker engine for tests: on a socket and in a folder of its own, with one tiny image, ended by its process id.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { findProgram, missingProgram } from "./program.ts";

export interface TestEngine {
  /** To put into the environment of whoever uses the engine. */
  readonly env: { readonly DOCKER_HOST: string };
  readonly image: string;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 120_000;

/** Undefined when an engine can be tried here; else why not, and what would help. */
export function noEngine(): string | false {
  if (process.getuid?.() !== 0) return "a Docker engine of our own needs root";
  return (
    missingProgram("dockerd", "docker.io") ||
    missingProgram("docker", "docker.io") ||
    missingProgram("busybox", "busybox-static")
  );
}

/** Resolves with the reason when the machine does not let an engine run. */
export async function startEngine(): Promise<TestEngine | string> {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-docker-"));
  const socket = join(folder, "docker.sock");
  const log = join(folder, "log");
  const output = openSync(log, "w");
  const words = ["--storage-driver=vfs", "--iptables=false", "--ip6tables=false", "--bridge=none"];
  const daemon = spawn(
    findProgram("dockerd") ?? "/usr/sbin/dockerd",
    [
      ...words,
      "--data-root",
      join(folder, "data"),
      "--exec-root",
      join(folder, "exec"),
      "--pidfile",
      join(folder, "pid"),
      "-H",
      `unix://${socket}`,
    ],
    { stdio: ["ignore", output, output] },
  );
  // It takes its own children with it only when it is asked to end.
  const end = (): void => void daemon.kill("SIGTERM");
  process.once("exit", end);
  const env = { DOCKER_HOST: `unix://${socket}` };
  const stop = async (): Promise<void> => {
    if (daemon.exitCode === null && daemon.signalCode === null) {
      daemon.kill("SIGTERM");
      await Promise.race([
        new Promise((resolve) => daemon.once("exit", resolve)),
        wait(90_000, undefined, { ref: false }),
      ]);
      daemon.kill("SIGKILL");
    }
    process.off("exit", end);
    for (const place of mountsBelow(folder)) spawnSync("umount", ["-l", place]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  if (!(await answers(env, () => daemon.exitCode !== null))) {
    const said = readFileSync(log, "utf8").trim().split("\n").at(-1) ?? "";
    await stop();
    return `dockerd does not run on this machine: ${said}`;
  }
  const image = "openclaw-test:1";
  importImage(folder, image, env);
  return { env, image, stop };
}

async function answers(env: TestEngine["env"], isOver: () => boolean): Promise<boolean> {
  const end = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < end && !isOver()) {
    if (
      spawnSync("docker", ["version", "--format", "{{.Server.Version}}"], { env: { ...process.env, ...env } })
        .status === 0
    )
      return true;
    await wait(200);
  }
  return false;
}

/** busybox, a user file, and a program that would give root away if the box let it. */
function importImage(folder: string, image: string, env: TestEngine["env"]): void {
  const root = join(folder, "image");
  for (const name of ["bin", "etc", "tmp", "usr/bin", "root", "home"]) mkdirSync(join(root, name), { recursive: true });
  const busybox = join(root, "bin", "busybox");
  copyFileSync(findProgram("busybox") ?? "busybox", busybox);
  const applets = execFileSync(busybox, ["--list"], { encoding: "utf8" }).trim().split("\n");
  for (const name of applets.filter((applet) => applet !== "busybox")) symlinkSync("busybox", join(root, "bin", name));
  copyFileSync(busybox, join(root, "usr/bin/setuid-id"));
  chmodSync(join(root, "usr/bin/setuid-id"), 0o4755);
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
  writeFileSync(join(root, "etc/profile"), "export PATH=/usr/bin:/bin\n");
  const tar = execFileSync("tar", ["-C", root, "-c", "."], { maxBuffer: 64 * 2 ** 20 });
  execFileSync("docker", ["import", "-", image], {
    input: tar,
    env: { ...process.env, ...env },
    stdio: ["pipe", "ignore", "inherit"],
  });
  rmSync(root, { recursive: true });
}

function mountsBelow(folder: string): string[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return lines
    .map((line) => line.split(" ")[4] ?? "")
    .filter((place) => place.startsWith(`${folder}/`))
    .reverse();
}
