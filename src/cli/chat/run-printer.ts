// Prints a run while it happens: growing text, one line per tool call, notices, and how it ended.
import { systemClock } from "../../base/clock.ts";
import type { Io } from "../io.ts";
import { safe } from "../print.ts";
import type { RunView } from "./run-events.ts";
import { toolLine, type ToolStart } from "./tool-line.ts";

export interface PrinterOptions {
  readonly to: "stdout" | "stderr";
  /** Also print the results of tools. */
  readonly full: boolean;
  /** Print the reply itself; without it, only tool calls and notices. */
  readonly text: boolean;
}

export interface RunPrinter {
  show(view: RunView): void;
  /** Prints a separate line, also in the middle of a reply, which then continues. */
  printLine(text: string): void;
}

export function createRunPrinter(io: Io, { to, full, text: withText }: PrinterOptions): RunPrinter {
  const tools = new Map<string, ToolStart & { readonly startedAt: number }>();
  const paint = to === "stdout" ? io.paint : io.paintError;
  // The reply that grows now, the previous one, and whether the cursor is in the middle of it.
  let [shown, last, isMidLine] = ["", "", false];

  const put = (text: string): void => {
    io.write(safe(text));
    isMidLine = !text.endsWith("\n");
  };
  const line = (words: string): void => {
    if (isMidLine) put("\n");
    if (to === "stdout") io.print(words);
    else io.say(words);
  };
  const grow = (text: string): void => {
    const whole = wholeCharacters(text);
    if (!withText || whole === "" || shown.startsWith(whole)) return;
    if (whole.startsWith(shown)) put(whole.slice(shown.length));
    else {
      // A different text than the one that grew: a fallback model answered, or the gateway corrected the text.
      if (isMidLine) put("\n");
      put(whole);
    }
    [shown, last] = [whole, whole];
  };
  const end = (text: string): void => {
    if (text !== last) grow(text);
    if (isMidLine) put("\n");
    [shown, last] = ["", ""];
  };

  const endTool = (view: Extract<RunView, { kind: "tool-end" }>): void => {
    const now = systemClock.ticks();
    const { startedAt, ...start } = tools.get(view.id) ?? { name: view.name, args: undefined, startedAt: now };
    tools.delete(view.id);
    shown = ""; // text after a tool call is a new reply
    line(toolLine(start, { ...view, elapsedMs: now - startedAt }, io.width, paint));
    if (full && view.result !== "") line(paint.dim(safe(view.result).replaceAll(/^/gm, "  ")));
  };

  return {
    printLine: line,
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

/** Without half a character at the end; it is printed with its other half. */
function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
