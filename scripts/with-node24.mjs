// Runs a script under a Node that can run the sources, passing arguments, signals and the exit code through.
import { spawn } from "node:child_process";

import { nodeBinary, root } from "./ground.mjs";

const node = nodeBinary();
if (node === undefined) {
  process.stderr.write("Node 24 is missing; run: node scripts/setup.mjs\n");
  process.exit(1);
}
const child = spawn(node, process.argv.slice(2), { stdio: "inherit", cwd: root });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
