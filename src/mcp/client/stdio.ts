// The transport to an MCP server that is a program: its own process group, a clean environment, bounded messages.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import { ToolError } from "../../core/error.ts";
import { visible } from "../../core/visible.ts";
import { MARK } from "../../exec/proc.ts";
import { endTree } from "../../exec/tree.ts";

export interface StdioOptions {
  readonly id: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Whole; nothing is added but the mark. */
  readonly env: Readonly<Record<string, string>>;
  /** In the environment of every process it starts, so that all of them can be ended. */
  readonly mark: string;
}

const MAX_MESSAGE_BYTES = 32_000_000;
/** Between two answers. A server that sends more is broken or hostile. */
const MAX_UNASKED_BYTES = 64_000_000;
const MAX_STDERR_CHARS = 2_000;
const EXIT_GRACE_MS = 500;
const KILL_GRACE_MS = 1_000;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  readonly #options: StdioOptions;
  #child: ChildProcess | undefined;
  #parts: Buffer[] = [];
  #partBytes = 0;
  #unasked = 0;
  #stderr = "";
  #isReaped = false;
  #isStopping = false;
  #isClosed = false;
  #end: string | undefined;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  /** How it ended and what it last wrote to standard error, for messages. */
  describeEnd(): string {
    const last = this.#stderr.trim().split("\n").at(-1) ?? "";
    return `${this.#end ?? "ended"}${last === "" ? "" : `; it last wrote: ${visible(last, 300)}`}`;
  }

  async start(): Promise<void> {
    const { id, command, args, cwd, env, mark } = this.#options;
    if (!existsSync(cwd)) throw startError(id, `its folder ${visible(cwd)} does not exist`);
    const child = spawn(command, [...args], {
      cwd,
      env: { ...env, [MARK]: mark },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    this.#child = child;
    child.stdin.on("error", (error) => this.onerror?.(error));
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      this.#stderr = `${this.#stderr}${chunk.toString("utf8")}`.slice(-MAX_STDERR_CHARS);
    });
    child.once("exit", (code, signal) => {
      this.#isReaped = true;
      this.#end ??= this.#endOf(code, signal);
      // A child of it may keep the pipes open; what it wrote itself is in them by now.
      setTimeout(() => this.#closed(), EXIT_GRACE_MS).unref();
    });
    child.once("close", () => this.#closed());
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) =>
        reject(startError(id, `${visible(command)} could not be started: ${error.message}`)),
      );
    });
    // A server that is not used keeps no process alive.
    for (const one of [child, child.stdin, child.stdout, child.stderr] as { unref?(): void }[]) one.unref?.();
  }

  /** A write to a server that has just failed stops it before its exit is known; the exit code tells why. */
  #endOf(code: number | null, signal: NodeJS.Signals | null): string {
    if (code !== null && code !== 0) return `ended with exit code ${code}`;
    if (this.#isStopping) return "was stopped";
    return signal === null ? "ended with exit code 0" : `was ended by ${signal}`;
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === null || stdin === undefined || this.#isClosed)
      return Promise.reject(new Error("the server has ended"));
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error instanceof Error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return this.#closed();
    this.#isStopping = true;
    child.stdin?.end();
    const { pid } = child;
    const { mark } = this.#options;
    // Without a pid it never started.
    if (pid !== undefined) {
      await exitWithin(child, EXIT_GRACE_MS);
      const leader = { pid, isReaped: () => this.#isReaped };
      await endTree({ owns: (one) => one === mark, leaders: [leader] }, { graceMs: KILL_GRACE_MS });
    }
    this.#closed();
  }

  #read(chunk: Buffer): void {
    if (this.#isClosed) return;
    this.#unasked += chunk.length;
    if (this.#unasked > MAX_UNASKED_BYTES)
      return this.#kill(`sent more than ${MAX_UNASKED_BYTES / 1e6} MB without an answer`);
    let rest = chunk;
    for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10)) {
      const end = rest.subarray(0, at);
      const line = this.#parts.length === 0 ? end : Buffer.concat([...this.#parts, end]);
      this.#parts = [];
      this.#partBytes = 0;
      rest = rest.subarray(at + 1);
      this.#message(line.toString("utf8"));
    }
    if (rest.length === 0) return;
    this.#parts.push(rest);
    this.#partBytes += rest.length;
    if (this.#partBytes > MAX_MESSAGE_BYTES) this.#kill(`sent a message of more than ${MAX_MESSAGE_BYTES / 1e6} MB`);
  }

  #message(line: string): void {
    if (line.trim() === "") return;
    try {
      const message = JSON.parse(line) as JSONRPCMessage;
      if ("id" in message && !("method" in message)) this.#unasked = 0;
      this.onmessage?.(message);
    } catch (error) {
      // Many programs print a banner to standard output; it goes only to the log.
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #kill(why: string): void {
    this.#end = why;
    this.#parts = [];
    this.#child?.stdout?.destroy();
    const { pid } = this.#child ?? {};
    this.#closed();
    if (pid !== undefined && pid > 1 && !this.#isReaped) process.kill(-pid, "SIGKILL");
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }
}

function exitWithin(child: ChildProcess, ms: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    child.ref();
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function startError(id: string, why: string): ToolError {
  return new ToolError("mcp.not-started", `MCP server ${id} did not start: ${why}`, {
    hint: `openclaw mcp test ${id}`,
  });
}
