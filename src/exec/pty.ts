// Runs a command in a pseudo-terminal: answers cursor queries, and its drawing can be read as a screen.
import { existsSync, readSync } from "node:fs";
import { constants as system } from "node:os";
import { delimiter, resolve } from "node:path";
import type { ReadStream } from "node:tty";

import type * as Library from "@lydell/node-pty";

import { errnoOf, OpenClawError } from "../core/error.ts";
import type { HostLaunch } from "./sandbox.ts";
import { isRunnable, whyNotRunnable } from "./find-program.ts";
import { minimalPath } from "./login-path.ts";
import type { CapturedOutput } from "./output.ts";
import { inputClosed } from "./piped.ts";
import { hasForegroundGroup, MARK, readProcess } from "./proc.ts";
import type { PipelinePart, StartedPipeline } from "./running.ts";
import { createScreen } from "./screen.ts";
import { isFolder, startError } from "./start-error.ts";
import { createQueryFilter } from "./terminal-query.ts";
import type { Leader } from "./tree.ts";

export interface TerminalOptions {
  readonly parts: readonly PipelinePart[];
  readonly size: { readonly columns: number; readonly rows: number };
  readonly output: CapturedOutput;
}

/** The members we use; the published type lacks the error event and raw bytes. */
interface Terminal {
  readonly pid: number;
  readonly fd: number;
  readonly _socket: ReadStream;
  onData(listener: (bytes: Buffer) => void): unknown;
  onExit(listener: (exit: { exitCode: number; signal?: number }) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  write(bytes: Uint8Array | string): void;
  pause(): void;
  resume(): void;
  destroy(): void;
}

const EOT = "\u0004";

export async function startTerminal({ parts, size, output }: TerminalOptions): Promise<StartedPipeline> {
  const launch = parts[0]?.launch;
  if (launch === undefined || parts.length > 1) throw noTerminal("a terminal can run one program, not a pipeline");
  const terminal = await open(launch, size);
  const filter = createQueryFilter((answer) => terminal.write(answer));
  const screen = createScreen(size, output);
  let isReaped = false;
  let isGone = false;

  output.onDrain = () => terminal.resume();
  terminal.on("error", () => {
    isGone = true; // reading fails with EIO once the other side is closed, which means the end and not a failure
  });
  terminal.onData((bytes) => {
    if (!output.append(filter.take(bytes))) terminal.pause();
  });
  readRestBeforeClose(terminal, (bytes) => output.append(filter.take(bytes)));
  const finished = new Promise<{ code: number | null; signal?: string }>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      isReaped = true;
      isGone = true;
      output.append(filter.rest());
      launch.release?.();
      const name = signal === undefined || signal === 0 ? undefined : signalName(signal);
      resolve(name === undefined ? { code: exitCode } : { code: null, signal: name });
    });
  });
  const leader: Leader = { pid: terminal.pid, isReaped: () => isReaped };
  let ready: Promise<void> | undefined;
  const untilReady = (): Promise<void> => (ready ??= untilTaken(leader, launch.env[MARK]));
  return {
    leaders: [leader],
    tty: true,
    finished,
    async write(bytes) {
      await untilReady();
      if (isGone) throw inputClosed();
      terminal.write(Buffer.from(bytes));
    },
    async closeInput() {
      await untilReady();
      if (!isGone) terminal.write(EOT);
    },
    cutOutput: () => terminal.destroy(),
    screen: () => screen.read(),
  };
}

async function open(launch: HostLaunch, size: TerminalOptions["size"]): Promise<Terminal> {
  const { spawn } = await load();
  const program = await programOf(launch);
  const [file = "", ...args] = withFiles(launch, program);
  const env = { ...launch.env, TERM: "xterm-256color" };
  try {
    const options = {
      name: "xterm-256color",
      cols: size.columns,
      rows: size.rows,
      cwd: launch.cwd,
      env,
      encoding: null,
    };
    return spawn(file, args, options) as unknown as Terminal;
  } catch (error) {
    launch.release?.();
    throw noTerminal("a pseudo-terminal could not be opened", error);
  }
}

/** More than the kernel holds for a terminal; a process left in the background can write without end. */
const MAX_REST_BYTES = 1_048_576;

/** The library closes the terminal soon after its program ends, also while it is paused, and drops what is unread. */
function readRestBeforeClose({ _socket: socket, fd }: Terminal, take: (bytes: Buffer) => void): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    if (socket.destroyed) return socket;
    socket.pause(); // so that one read returns everything, as one data event
    if (socket.readableLength > 0) socket.read();
    take(readAvailable(fd));
    return destroy(error);
  };
}

function readAvailable(fd: number): Buffer {
  const rest = Buffer.allocUnsafe(MAX_REST_BYTES);
  let length = 0;
  try {
    for (let count = 1; count > 0 && length < rest.length; length += count) {
      count = readSync(fd, rest, length, rest.length - length, null);
    }
  } catch (error) {
    // EIO: the other side is closed. EAGAIN: a process still has it open. Any other failure also ends the output.
    if (errnoOf(error) === undefined) throw error;
  }
  return rest.subarray(0, length);
}

const POLL_MS = 1;

/**
 * The library returns right after the fork. Until the child has taken the terminal, the kernel has no process to signal
 * and drops a C-c. A program that runs is also ready when it has given the terminal up. Without /proc this does not wait.
 */
async function untilTaken(leader: Leader, mark: string | undefined): Promise<void> {
  while (!leader.isReaped()) {
    const child = readProcess(leader.pid, true);
    if (child === undefined || child.isDead || child.mark === mark || hasForegroundGroup(leader.pid)) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function load(): Promise<typeof Library> {
  try {
    return await import("@lydell/node-pty");
  } catch (error) {
    throw noTerminal("pseudo-terminals are not available on this system", error);
  }
}

/** The caller can run the command over pipes instead. */
function noTerminal(why: string, cause?: unknown): OpenClawError {
  return new OpenClawError("exec.no-terminal", why, { hint: "call again without pty", cause });
}

/** Checked here, because the library forks first and a child that cannot start the program only exits. */
async function programOf(launch: HostLaunch): Promise<string> {
  const name = launch.argv[0] ?? "";
  const folders = name.includes("/") ? [""] : (launch.env["PATH"]?.split(delimiter) ?? minimalPath);
  const paths = folders.map((folder) => resolve(launch.cwd, folder, name));
  const found = (await isFolder(launch.cwd)) ? paths.find(isRunnable) : undefined;
  if (found !== undefined) return found;
  launch.release?.();
  // A folder that has the file explains more than the folders that lack it.
  const code = paths.map(whyNotRunnable).findLast((why) => why !== undefined && why !== "ENOENT") ?? "ENOENT";
  throw await startError(launch, Object.assign(new Error("not runnable"), { code }));
}

/** The library does not pass open files on, so the child opens ours through /proc while we keep them open. */
function withFiles(launch: HostLaunch, program: string): readonly string[] {
  const fds = launch.fds ?? [];
  const argv = withName(launch, [program, ...launch.argv.slice(1)]);
  if (fds.length === 0) return argv;
  const opens = fds.map((fd, at) => `exec ${at + 3}</proc/${process.pid}/fd/${fd}`).join(" && ");
  return ["/bin/sh", "-c", `${opens} && exec "$@"`, "sh", ...argv];
}

/**
 * The library cannot set argv[0]. Programs that find their files by it (Python in a virtual environment) get it
 * through bash.
 */
function withName({ argv0 }: HostLaunch, argv: readonly string[]): readonly string[] {
  if (argv0 === undefined || argv0 === argv[0] || !existsSync(BASH)) return argv;
  return [BASH, "-c", 'exec -a "$0" "$@"', argv0, ...argv];
}

const BASH = "/bin/bash";

function signalName(number: number): string {
  return Object.entries(system.signals).find(([, value]) => value === number)?.[0] ?? `SIG${number}`;
}
