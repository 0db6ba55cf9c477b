// Entry point of the command line: runs the program and exits with its exit code.
import { refuseDebugger } from "./base/no-debugger.ts";
import { main } from "./cli/program.ts";

refuseDebugger();
const terminal = { env: process.env, stdout: streamOf(1), stderr: streamOf(2), stdinIsTerminal: isTerminal(0) };
// No `await` here: the bundle puts this file and the commands it loads into one chunk, which would wait for itself.
void main(process.argv.slice(2), terminal).then(end);

function end(code: number): void {
  process.exitCode = code;
  // A handle that a command forgot to close must not keep the finished process alive.
  setTimeout(() => process.exit(code), 2000).unref();
}

function streamOf(fd: 1 | 2) {
  const stream = () => (fd === 1 ? process.stdout : process.stderr);
  const shown = isTerminal(fd);
  let listening = false;
  return {
    isTerminal: shown,
    columns: shown ? stream().columns : undefined,
    write(text: string) {
      const to = stream();
      if (!listening) to.on("error", endQuietly);
      listening = true;
      to.write(text);
    },
  };
}

/** The reader closed the pipe (`openclaw logs | head`), so there is nothing left to do. */
function endQuietly(error: NodeJS.ErrnoException): void {
  process.exit(error.code === "EPIPE" ? 0 : 1);
}

function isTerminal(fd: 0 | 1 | 2): boolean {
  // A pipe or a file is not a terminal; asking `node:tty` about it would cost 4 ms.
  const { fstatSync } = process.getBuiltinModule("node:fs");
  return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(fd);
}
