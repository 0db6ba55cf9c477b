// Prepares a fresh clone on any Node version: Node 24, packages, build. Plain JavaScript without dependencies.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { isBuildFresh, NODE_VERSION, nodeBinary, root, toolsFolder } from "./project.mjs";

const flags = new Set(process.argv.slice(2));
ensurePackages();
ensureNode();
if (!flags.has("--no-build")) ensureBuild();

function ensureNode() {
  if (nodeBinary() !== undefined) return;
  const name = `node-${process.platform}-${process.arch}`;
  say(
    `Node ${process.versions.node} is too old to run OpenClaw; fetching Node ${NODE_VERSION} for this project only …`,
  );
  run("npm", [
    "install",
    "--prefix",
    toolsFolder,
    "--no-save",
    "--ignore-scripts",
    "--no-package-lock",
    `${name}@${NODE_VERSION}`,
  ]);
  if (nodeBinary() === undefined) fail(`could not install ${name}@${NODE_VERSION}; install Node 24 by hand and retry`);
}

function ensurePackages() {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  const stamp = join(root, "node_modules", ".openclaw-lock");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  say("installing packages (about half a minute the first time) …");
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
  writeFileSync(stamp, lock);
}

function ensureBuild() {
  if (isBuildFresh()) return;
  say("building …");
  run(nodeBinary(), [join(root, "scripts", "build.ts")]);
}

function run(command, args) {
  const { status, error } =
    spawnSync(command, args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
      maxBuffer: 64 << 20,
      env: { ...process.env, npm_config_loglevel: "error" },
      ...(command === "npm" && process.platform === "win32" ? { shell: true } : {}),
    }).status === 0
      ? { status: 0 }
      : retryLoudly(command, args);
  if (status !== 0) fail(`${command} ${args.join(" ")} failed${error ? `: ${error.message}` : ""}`);
}

/** Prints no output on success and the whole output on failure. */
function retryLoudly(command, args) {
  return spawnSync(command, args, { cwd: root, stdio: "inherit" });
}

function say(words) {
  process.stderr.write(`[setup] ${words}\n`);
}

function fail(words) {
  say(words);
  process.exit(1);
}
