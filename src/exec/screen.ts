// Renders the visible screen of a command's terminal as text; output is fed to the terminal only when it is read.
import type { Terminal } from "@xterm/headless";

import type { CapturedOutput } from "./output.ts";

/** The most output fed per read; a program that draws more than this has redrawn the screen many times. */
const MAX_FEED_BYTES = 1_048_576;

export interface Screen {
  read(): Promise<string>;
}

export function createScreen(
  size: { readonly columns: number; readonly rows: number },
  output: Pick<CapturedOutput, "totalBytes" | "raw">,
): Screen {
  let terminal: Terminal | undefined;
  let fed = 0;
  let last: Promise<unknown> = Promise.resolve();

  const render = async (): Promise<string> => {
    terminal ??= await openTerminal(size);
    const end = output.totalBytes;
    const from = Math.max(fed, end - MAX_FEED_BYTES);
    if (from > fed) terminal.reset();
    const bytes = await output.raw(from, end);
    fed = end;
    const target = terminal;
    await new Promise<void>((resolve) => target.write(bytes, resolve));
    return visibleText(target);
  };
  return {
    // Reads run one after the other, because two concurrent reads would feed the same bytes twice.
    async read() {
      const next = last.then(render, render);
      last = next;
      return next;
    },
  };
}

async function openTerminal({ columns, rows }: { columns: number; rows: number }): Promise<Terminal> {
  const loaded = await import("@xterm/headless");
  // A CommonJS package: its names are on the default export.
  const { Terminal } = "default" in loaded ? (loaded.default as typeof loaded) : loaded;
  return new Terminal({ cols: columns, rows, scrollback: 0, allowProposedApi: true });
}

function visibleText(terminal: Terminal): string {
  const { active } = terminal.buffer;
  const lines = Array.from({ length: terminal.rows }, (_, row) =>
    (active.getLine(active.baseY + row)?.translateToString(true) ?? "").trimEnd(),
  );
  return lines.join("\n").trimEnd();
}
