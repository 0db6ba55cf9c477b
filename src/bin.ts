// Entry of the command line: hands the process to the program and ends with its exit code.
import { main } from "./cli/program.ts";

const code = await main(process.argv.slice(2), {
  env: process.env,
  stdout: streamOf(1),
  stderr: streamOf(2),
  stdinIsTerminal: isTerminal(0),
});
process.exitCode = code;
// Whatever a command forgot to close must not keep a finished command alive.
setTimeout(() => process.exit(code), 2000).unref();

function streamOf(fd: 1 | 2) {
  const stream = () => (fd === 1 ? process.stdout : process.stderr);
  let listening = false;
  return {
    isTerminal: isTerminal(fd),
    columns: isTerminal(fd) ? stream().columns : undefined,
    write(text: string) {
      const to = stream();
      if (!listening) to.on("error", endQuietly);
      listening = true;
      to.write(text);
    },
  };
}

/** The reader went away (`openclaw logs | head`): nothing is left to do. */
function endQuietly(error: NodeJS.ErrnoException): void {
  process.exit(error.code === "EPIPE" ? 0 : 1);
}

function isTerminal(fd: 0 | 1 | 2): boolean {
  // Asking the streams themselves would build them, which costs a few milliseconds each.
  return process.getBuiltinModule("node:tty").isatty(fd);
}
