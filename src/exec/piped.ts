// Runs a pipeline over real pipes and merges both output streams in the order they were written.
import { closeSync } from "node:fs";
import { Socket } from "node:net";

import { errnoOf, OpenClawError } from "../core/error.ts";
import type { Launched, Launcher, Program } from "./launcher.ts";
import { scratch, type CapturedOutput } from "./output.ts";
import type { Pipe, PipePool } from "./pipes.ts";
import type { PipelinePart, StartedPipeline } from "./running.ts";
import { startError } from "./start-error.ts";

type Stdio = Program["stdio"];

export interface PipedOptions {
  readonly parts: readonly PipelinePart[];
  readonly launcher: Launcher;
  readonly pipes: PipePool;
  readonly output: CapturedOutput;
  /** Receives standard error separately; the order between the two streams is then lost. */
  readonly errors?: CapturedOutput | undefined;
}

export async function startPiped({ parts, launcher, pipes, output, errors }: PipedOptions): Promise<StartedPipeline> {
  const plumbing = await openPlumbing(parts.length, pipes, errors !== undefined);
  const children: Launched[] = [];
  try {
    for (const [at, part] of parts.entries()) {
      const stdio = stdioOf(plumbing, at, part);
      children.push(await startOne(part, stdio, launcher));
    }
  } catch (error) {
    for (const child of children) if (!child.isReaped()) process.kill(child.pid, "SIGKILL");
    closeSync(plumbing.input);
    closeSync(plumbing.outputEnd);
    if (plumbing.errorsEnd !== undefined) closeSync(plumbing.errorsEnd);
    throw error;
  } finally {
    for (const fd of plumbing.theirs) closeSync(fd);
    for (const { launch } of parts) launch.release?.();
  }
  const readers = [
    readInto(plumbing.outputEnd, output),
    ...(errors === undefined || plumbing.errorsEnd === undefined ? [] : [readInto(plumbing.errorsEnd, errors)]),
  ];
  const read = Promise.all(readers.map(({ ended }) => ended));
  const input = createInput(plumbing.input);
  return {
    leaders: children,
    tty: false,
    finished: Promise.all([read, ...children.map(({ exited }) => exited)]).then(async ([, ...exits]) => {
      input.drop();
      return exits.at(-1) ?? { code: null };
    }),
    write: (bytes) => input.write(bytes),
    closeInput: () => input.close(),
    cutOutput: () => readers.forEach((reader) => reader.cut()),
    screen: async () => undefined,
  };
}

interface Plumbing {
  /** The gateway's ends. */
  readonly input: number;
  readonly outputEnd: number;
  readonly errorsEnd?: number;
  /** Indexed by process. */
  readonly stdin: readonly number[];
  readonly stdout: readonly number[];
  readonly errors: number;
  /** The ends passed to children; the gateway closes its copies. */
  readonly theirs: readonly number[];
}

async function openPlumbing(length: number, pipes: PipePool, isApart: boolean): Promise<Plumbing> {
  const open: number[] = [];
  const take = async (towards: "child" | "us"): Promise<Pipe> => {
    const pipe = await pipes.take(towards);
    open.push(pipe.ours, pipe.theirs);
    return pipe;
  };
  try {
    const input = await take("child");
    const output = await take("us");
    const errors = isApart ? await take("us") : output;
    const links = [];
    for (let at = 1; at < length; at += 1) {
      const link = await pipes.takeLink();
      open.push(link.read, link.write);
      links.push(link);
    }
    const stdin = [input.theirs, ...links.map(({ read }) => read)];
    const stdout = [...links.map(({ write }) => write), output.theirs];
    return {
      input: input.ours,
      outputEnd: output.ours,
      ...(isApart ? { errorsEnd: errors.ours } : {}),
      stdin,
      stdout,
      errors: errors.theirs,
      theirs: [...new Set([...stdin, ...stdout, errors.theirs])],
    };
  } catch (error) {
    for (const fd of open) closeSync(fd);
    throw error;
  }
}

function stdioOf(plumbing: Plumbing, at: number, { launch, errors, output, input }: PipelinePart): Stdio {
  const out = output === "dropped" ? "ignore" : (plumbing.stdout[at] ?? "ignore");
  const err = errors === "dropped" ? "ignore" : errors === "joined" ? out : plumbing.errors;
  const standardInput = input === "empty" ? "ignore" : (plumbing.stdin[at] ?? "ignore");
  return [standardInput, out, err, ...(launch.fds ?? [])];
}

async function startOne({ launch }: PipelinePart, stdio: Stdio, launcher: Launcher): Promise<Launched> {
  const [program = "", ...args] = launch.argv;
  const { cwd, env, argv0 = program } = launch;
  try {
    return await launcher.launch({ program, args, argv0, cwd, env, stdio });
  } catch (error) {
    throw await startError(launch, error);
  }
}

function readInto(fd: number, output: CapturedOutput): { readonly ended: Promise<void>; cut(): void } {
  const buffer = scratch();
  const socket = new Socket({
    fd,
    readable: true,
    writable: false,
    // One shared buffer avoids an allocation per read; the bytes are copied before the next read.
    onread: { buffer, callback: (count) => output.append(buffer.subarray(0, count)) },
  });
  output.onDrain = () => socket.resume();
  const ended = new Promise<void>((resolve) => {
    socket.once("error", () => socket.destroy());
    socket.once("close", () => resolve());
    socket.once("end", () => socket.destroy());
  });
  return { ended, cut: () => socket.destroy() };
}

interface Input {
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
  /** Called when all processes are gone. */
  drop(): void;
}

/** The limit of unread input held in the gateway's memory. */
const MAX_WAITING_BYTES = 8_000_000;

/** Most commands get no input, so the stream is created with the first write. */
function createInput(fd: number): Input {
  let stream: Socket | undefined;
  let isClosed = false;
  const open = (): Socket => {
    if (stream === undefined) {
      stream = new Socket({ fd, readable: false, writable: true });
      // The write reports a closed reader; without this handler the error event would end the gateway.
      stream.on("error", () => {
        isClosed = true;
      });
    }
    return stream;
  };
  return {
    async write(bytes) {
      if (isClosed) throw inputClosed();
      const target = open();
      if (target.writableLength > MAX_WAITING_BYTES) throw inputFull();
      await new Promise<void>((resolve, reject) => {
        const onClose = (): void => reject(inputClosed());
        target.once("close", onClose);
        target.write(bytes, (error) => {
          target.off("close", onClose);
          if (error === null || error === undefined) resolve();
          else reject(inputClosed(error));
        });
      });
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      if (stream === undefined) closeSync(fd);
      else stream.end();
    },
    drop() {
      if (stream === undefined && !isClosed) closeSync(fd);
      isClosed = true;
      stream?.destroy();
    },
  };
}

function inputFull(): OpenClawError {
  return new OpenClawError("exec.input-full", "the command does not read its input, and the input buffer is full", {
    hint: "wait until it reads, or kill it",
  });
}

export function inputClosed(cause?: Error): OpenClawError {
  return new OpenClawError("exec.input-closed", "the input of this command is closed", {
    hint: "it has exited, closed its standard input, or was started without one; to write to it, start it again with background=true or pty=true",
    ...(cause === undefined ? {} : { cause, details: { code: errnoOf(cause) } }),
  });
}
