// Lines from a person at a terminal: an editor with history that can be covered while a reply is printed.
import { createInterface } from "node:readline";
import { Writable } from "node:stream";

export interface LineInput {
  /** Shows the prompt with what was typed meanwhile. */
  open(): void;
  /** Hides the prompt and what is typed, until it is opened again. */
  cover(): void;
  close(): void;
}

export interface LineEars {
  line(text: string): void;
  /** Esc never ends a program, Ctrl-C may. */
  stop(key: "escape" | "interrupt"): void;
  /** Ctrl-D, or the terminal went away. */
  end(): void;
}

const ESCAPE_WAIT_MS = 50;
// Nobody types two lines within this time; somebody who pastes does, and means one message.
const PASTE_MS = 20;

export function openLineInput(prompt: string, ears: LineEars): LineInput {
  const { stdin, stdout } = process;
  const screen = coverable(stdout);
  const editor = createInterface({
    input: stdin,
    output: screen.stream,
    terminal: true,
    prompt,
    historySize: 500,
    removeHistoryDuplicates: true,
    escapeCodeTimeout: ESCAPE_WAIT_MS,
  });
  const onKey = (_text: string | undefined, key: { readonly name?: string } | undefined): void => {
    if (key?.name === "escape") ears.stop("escape");
  };
  stdin.on("keypress", onKey);
  const pasted = joinPasted(
    () => editor.line !== "",
    (text) => ears.line(text),
  );
  editor.on("line", pasted);
  editor.on("SIGINT", () => {
    editor.write(null, { ctrl: true, name: "u" });
    ears.stop("interrupt");
  });
  editor.on("close", () => ears.end());
  return {
    open() {
      screen.cover(false);
      editor.prompt(true);
    },
    cover() {
      // The prompt stands alone on its line; what comes next begins there.
      if (!screen.isCovered()) stdout.write("\r\u001b[K");
      screen.cover(true);
    },
    close() {
      stdin.off("keypress", onKey);
      editor.removeAllListeners("close");
      editor.close();
    },
  };
}

/** Lines that come all at once are one message, with what is still being typed behind them. */
function joinPasted(isTyping: () => boolean, deliver: (text: string) => void): (line: string) => void {
  let lines: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  return (line) => {
    lines.push(line);
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (isTyping()) return;
      const text = lines.join("\n");
      lines = [];
      deliver(text);
    }, PASTE_MS);
  };
}

function coverable(stdout: NodeJS.WriteStream) {
  let covered = true;
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!covered) stdout.write(chunk);
      done();
    },
  });
  // The editor asks the stream how wide it is, to find its way in lines that wrap.
  Object.defineProperty(stream, "columns", { get: () => stdout.columns });
  stdout.on("resize", () => stream.emit("resize"));
  return {
    stream,
    cover: (next: boolean) => void (covered = next),
    isCovered: () => covered,
  };
}
