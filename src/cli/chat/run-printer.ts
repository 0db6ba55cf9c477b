// Prints a run as it happens: text as it grows, tool calls in one line each, notices, how it ended.
import { systemClock } from "../../base/clock.ts";
import type { Io } from "../io.ts";
import { safe } from "../print.ts";
import type { RunView } from "./run-events.ts";
import { toolLine, type ToolStart } from "./tool-line.ts";

export interface PrinterOptions {
  readonly to: "stdout" | "stderr";
  /** Also what tools answered. */
  readonly full: boolean;
  /** The reply itself; without it only what happens around it. */
  readonly text: boolean;
}

export interface RunPrinter {
  show(view: RunView): void;
}

export function createRunPrinter(io: Io, { to, full, text: withText }: PrinterOptions): RunPrinter {
  const tools = new Map<string, ToolStart & { readonly startedAt: number }>();
  let shown = "";
  let last = "";
  const paint = to === "stdout" ? io.paint : io.paintError;
  const line = (words: string): void => {
    if (shown !== "" && !shown.endsWith("\n")) io.write("\n");
    shown = "";
    if (to === "stdout") io.print(words);
    else io.say(words);
  };

  const grow = (text: string): void => {
    if (!withText) return;
    const whole = wholeCharacters(text);
    if (whole === "") return;
    if (whole.startsWith(shown)) io.write(safe(whole.slice(shown.length)));
    // Another text than the one that grew: a new reply after tools, or the house corrected itself.
    else if (!shown.startsWith(whole)) io.write(`${shown === "" ? "" : "\n"}${safe(whole)}`);
    else return;
    shown = whole;
    last = whole;
  };

  const end = (text: string): void => {
    if (text !== last) grow(text);
    if (shown !== "" && !shown.endsWith("\n")) io.write("\n");
    shown = "";
    last = "";
  };

  const endTool = (view: Extract<RunView, { kind: "tool-end" }>): void => {
    const now = systemClock.ticks();
    const { startedAt, ...start } = tools.get(view.id) ?? { name: view.name, args: undefined, startedAt: now };
    tools.delete(view.id);
    line(toolLine(start, { ...view, elapsedMs: now - startedAt }, io.width, paint));
    if (full && view.result !== "") line(paint.dim(safe(view.result).replaceAll(/^/gm, "  ")));
  };

  return {
    show(view) {
      switch (view.kind) {
        case "text":
          return grow(view.text);
        case "tool-start":
          tools.set(view.id, { name: view.name, args: view.args, startedAt: systemClock.ticks() });
          return;
        case "tool-end":
          return endTool(view);
        case "notice":
          return line(paint.dim(`· ${safe(view.text)}`));
        case "final":
          return end(view.text);
        case "aborted":
          end("");
          return line(paint.warn("(stopped)"));
        case "error":
          end("");
          line(paint.bad(safe(view.message)));
          if (view.hint !== undefined) line(`fix: ${safe(view.hint)}`);
      }
    },
  };
}

/** Half of a character at the end waits for its other half. */
function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
