// `openclaw logs`: shows the end of the log, through the gateway or from the file when no gateway runs.
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../../core/error.ts";
import { tailLog } from "../../gateway/log-tail.ts";
import type { LogTail } from "../../protocol/methods/system.ts";
import type { GatewayClient } from "../client.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { isListening } from "../listening.ts";
import { formatLogLine, newestLog, parseLogLine } from "../log-file.ts";
import { plain } from "../paint.ts";
import { wholeNumber } from "../parse.ts";
import { oneLine, shortPath, toJson } from "../print.ts";
import { readUncheckedConfig, type UncheckedConfig } from "../settings.ts";
import { targetOf, wireOptions, type Target } from "../target.ts";

const POLL_MS = 500;
const DEFAULT_LIMIT = 200;

/** Source of lines; a request with a cursor returns the lines since then. */
interface Source {
  readonly from: "gateway" | "file";
  tail(query: { readonly cursor?: number; readonly limit: number }): Promise<LogTail>;
  close(): void;
}

export const command = defineCommand({
  details:
    "Asks the gateway; if no gateway runs, reads the log file of this machine. With --json every line is an object with a type: meta, log, notice or raw.",
  options: {
    follow: {
      type: "boolean",
      short: "f",
      description: "Keep printing new lines until Ctrl-C, also across a restart of the gateway.",
    },
    limit: { type: "string", value: "lines", description: "Number of lines to start with (default: 200)." },
    plain: { type: "boolean", description: "Plain text without colors." },
    ...wireOptions,
  },
  examples: [
    { line: "logs --follow", does: "follow the log" },
    { line: "logs --limit 1000 --json", does: "a thousand lines as objects" },
    { line: "logs --plain | grep WARN", does: "search" },
  ],
  async run(io, { options }) {
    const limit = wholeNumber("limit", options.limit, { min: 1, max: 5000 }) ?? DEFAULT_LIMIT;
    const unchecked = await readUncheckedConfig(io);
    const target = await targetOf(io, options, unchecked);
    const printer = createPrinter(io, options.plain === true);
    let source = await openSource(io, target, unchecked, printer);
    let last = await source.tail({ limit });
    printer.meta(last, source.from);
    printer.lines(last.lines);
    while (options.follow === true) {
      await sleep(POLL_MS);
      try {
        const next = await source.tail({ cursor: last.cursor, limit: 5000 });
        const isNew = next.file !== last.file;
        last = isNew ? await source.tail({ cursor: 0, limit: 5000 }) : next;
        if (isNew || next.reset) printer.notice(`new log file: ${shortPath(last.file, io)}`);
        printer.lines(last.lines);
      } catch (error) {
        if (!(error instanceof OpenClawError)) throw error;
        printer.notice(`${error.message}; waiting for it`);
        source.close();
        source = await reopen(io, target, unchecked, printer);
      }
    }
    source.close();
    return 0;
  },
});

async function openSource(io: Io, target: Target, unchecked: UncheckedConfig, printer: Printer): Promise<Source> {
  if (await isListening(target)) return overWire(io, target);
  if (!target.isLocal)
    throw new OpenClawError("gateway.down", `no gateway answers at ${target.url}`, {
      hint: "start it there, or check gateway.remote.url",
    });
  const file = newestLog(io, unchecked);
  if (file === undefined)
    throw new OpenClawError("cli.no-log", "there is no log file on this machine yet", {
      hint: "openclaw gateway run",
    });
  printer.notice(`no gateway runs; reading ${shortPath(file, io)}`);
  return { from: "file", tail: (query) => tailLog(newestLog(io, unchecked) ?? file, query), close: () => undefined };
}

async function overWire(io: Io, target: Target): Promise<Source> {
  const { connectGateway } = await import("../client.ts");
  const client: GatewayClient = await connectGateway(io, target);
  return {
    from: "gateway",
    tail: async (query) => await client.call("logs.tail", query),
    close: client.close,
  };
}

async function reopen(io: Io, target: Target, unchecked: UncheckedConfig, printer: Printer): Promise<Source> {
  for (;;) {
    await sleep(POLL_MS);
    // A restarted gateway may have another port.
    const now = target.from === "--url" ? target : { ...target, url: (await targetOf(io, {}, unchecked)).url };
    if (!(await isListening(now))) continue;
    try {
      return await overWire(io, now);
    } catch (error) {
      if (!(error instanceof OpenClawError)) throw error;
      if (error.code === "gateway.unauthorized") throw error;
      printer.notice(error.message);
    }
  }
}

interface Printer {
  meta(tail: LogTail, from: Source["from"]): void;
  lines(lines: readonly string[]): void;
  notice(message: string): void;
}

function createPrinter(io: Io, isPlain: boolean): Printer {
  if (io.json) return jsonPrinter(io);
  const paint = isPlain ? plain : io.paint;
  return {
    meta({ truncated, lines }) {
      if (truncated) io.say(paint.dim(`(the last ${lines.length} lines; more with --limit)`));
    },
    lines(lines) {
      for (const line of lines) {
        const parsed = parseLogLine(line);
        io.print(parsed === undefined ? oneLine(line) : formatLogLine(parsed, paint));
      }
    },
    notice: (message) => io.say(paint.dim(`(${message})`)),
  };
}

function jsonPrinter(io: Io): Printer {
  const put = (value: unknown): void => io.print(toJson(value, 0));
  return {
    meta: ({ lines: _lines, ...rest }, from) => put({ type: "meta", from, ...rest }),
    lines(lines) {
      for (const line of lines) {
        const parsed = parseLogLine(line);
        if (parsed === undefined) put({ type: "raw", line });
        else
          put({
            type: "log",
            time: parsed.time,
            level: parsed.level,
            subsystem: parsed.subsystem,
            message: parsed.message,
            ...parsed.rest,
          });
      }
    },
    notice: (message) => put({ type: "notice", message }),
  };
}
