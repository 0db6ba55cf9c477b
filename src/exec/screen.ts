// What a person would see in a command's terminal, as text; the terminal is fed only when somebody looks.
import type { Terminal } from "@xterm/headless";

import type { CapturedOutput } from "./output.ts";

/** A look feeds at most this much; whoever draws more between two looks has redrawn the screen many times over. */
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
    // One after the other: two looks at once would feed the same bytes twice.
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
