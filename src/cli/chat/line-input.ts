// Reads lines at a terminal: an editor with history that can be hidden while a reply is printed.
import { createInterface } from "node:readline";
import { Writable } from "node:stream";

export interface LineInput {
  /** Shows the prompt with what was typed in the meantime. */
  open(): void;
  /** Hides the prompt and the typed text until it is opened again. */
  cover(): void;
  close(): void;
}

export interface LineHandlers {
  line(text: string): void;
  /** Esc never ends the program, Ctrl-C may. */
  stop(key: "escape" | "interrupt"): void;
  /** Ctrl-D, or the terminal was closed. */
  end(): void;
}

const ESCAPE_WAIT_MS = 50;
// A person does not type two lines within this time; lines that arrive faster were pasted and form one message.
const PASTE_MS = 20;

export function openLineInput(prompt: string, handlers: LineHandlers): LineInput {
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
    if (key?.name === "escape") handlers.stop("escape");
  };
  stdin.on("keypress", onKey);
  const pasted = joinPasted(
    () => editor.line !== "",
    (text) => handlers.line(text),
  );
  editor.on("line", pasted);
  editor.on("SIGINT", () => {
    editor.write(null, { ctrl: true, name: "u" });
    handlers.stop("interrupt");
  });
  editor.on("close", () => handlers.end());
  return {
    open() {
      screen.cover(false);
      editor.prompt(true);
    },
    cover() {
      // The prompt is alone on its line; the next output starts there.
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

/** Lines that arrive together form one message, followed by what is still being typed. */
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
  // The editor asks the stream for its width, to move the cursor in wrapped lines.
  Object.defineProperty(stream, "columns", { get: () => stdout.columns });
  stdout.on("resize", () => stream.emit("resize"));
  return {
    stream,
    cover: (next: boolean) => void (covered = next),
    isCovered: () => covered,
  };
}
