// npm run check: types, lint, format, imports, words, command summaries, doc links, generated docs, unused exports. No warnings allowed.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { root } from "./project.mjs";

const bin = (name: string): string => join(root, "node_modules", ".bin", name);
const steps: [name: string, command: string, args: string[]][] = [
  ["types", bin("tsc"), ["-p", "tsconfig.json"]],
  ...(existsSync(join(root, "ui", "tsconfig.json"))
    ? [["types of the page", bin("tsc"), ["-p", "ui/tsconfig.json"]] as [string, string, string[]]]
    : []),
  ["lint", bin("oxlint"), ["--type-aware", "--deny-warnings", "src", "test", "scripts", "bench", "ui"]],
  ["format", bin("oxfmt"), ["--check", "src", "test", "scripts", "bench", "ui", "openclaw.mjs"]],
  ["import order", process.execPath, ["scripts/check-imports.ts"]],
  ["banned words", process.execPath, ["scripts/check-words.ts"]],
  ["command summaries", process.execPath, ["scripts/check-summaries.ts"]],
  ["doc links", process.execPath, ["scripts/check-docs.ts"]],
  ["generated docs", process.execPath, ["scripts/gen-docs.ts", "--check"]],
  ["unused exports", bin("knip"), ["--no-progress"]],
];

const results = await Promise.all(
  steps.map(async ([name, command, args]) => ({ name, ...(await run(command, args)) })),
);
for (const { name, code, output } of results)
  console.log(`${code === 0 ? "ok  " : "FAIL"} ${name}${code === 0 ? "" : `\n${output.trim()}`}`);
process.exit(results.every(({ code }) => code === 0) ? 0 : 1);

function run(command: string, args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    // The tools of node_modules must start under this Node, not under whatever Node is on PATH.
    const isScript = command.includes(`${join("node_modules", ".bin")}`);
    const child = spawn(isScript ? process.execPath : command, isScript ? [command, ...args] : args, { cwd: root });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
