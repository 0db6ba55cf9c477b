// Runs a script under Node 24 and forwards arguments, signals and the exit code.
import { spawn } from "node:child_process";

import { nodeBinary, root } from "./project.mjs";

const node = nodeBinary();
if (node === undefined) {
  process.stderr.write("Node 24 is missing; run: node scripts/setup.mjs\n");
  process.exit(1);
}
const child = spawn(node, process.argv.slice(2), { stdio: "inherit", cwd: root });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
