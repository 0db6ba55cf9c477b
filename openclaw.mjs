#!/usr/bin/env node
// The command `openclaw`: answers --version by itself, finds a Node that is new enough, then runs the bundle or the sources.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);

if (args.length === 1 && ["--version", "-v", "-V"].includes(args[0])) printVersion();
else if (isNewEnough()) await runHere();
else await runUnderOwnNode();

function printVersion() {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeSync(1, `${version}\n`);
}

function isNewEnough() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  return major > 24 || (major === 24 && minor >= 15);
}

async function runHere() {
  cacheCompiledCode();
  const entry = useBundle() ? join(root, "dist", "bin.js") : join(root, "src", "bin.ts");
  await import(pathToFileURL(entry).href);
}

/** A published package has no sources; a checkout uses its bundle only while no source is newer. */
function useBundle() {
  const sources = join(root, "src");
  if (!existsSync(sources)) return true;
  const built = statSync(join(root, "dist", "built"), { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return false;
  return statSync(join(root, "package.json")).mtimeMs <= built && !hasNewer(sources, built);
}

/** Folders count too: a file that was removed leaves no other trace. Tests are no part of the bundle. */
function hasNewer(folder, time) {
  if (statSync(folder).mtimeMs > time) return true;
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return hasNewer(path, time);
    return !/\.(test|cases)\.ts$/.test(entry.name) && statSync(path).mtimeMs > time;
  });
}

/** In a folder of the user's own: whoever can write there decides which code runs. */
function cacheCompiledCode() {
  const base = process.env.XDG_CACHE_HOME || (process.env.HOME && join(process.env.HOME, ".cache"));
  if (!base || process.env.NODE_COMPILE_CACHE || process.env.NODE_DISABLE_COMPILE_CACHE) return;
  const folder = join(base, "openclaw", "code");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    return; // a home that cannot be written costs some speed, nothing else
  }
  const { enableCompileCache } = process.getBuiltinModule("node:module");
  enableCompileCache(folder);
}

async function runUnderOwnNode() {
  const name = process.platform === "win32" ? "node.exe" : "node";
  const own = join(root, ".tools", "node_modules", `node-${process.platform}-${process.arch}`, "bin", name);
  if (!existsSync(own)) return askForNode();
  const { spawn } = await import("node:child_process");
  const { constants } = await import("node:os");
  const child = spawn(own, [fileURLToPath(import.meta.url), ...args], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"])
    process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    process.stderr.write(`cannot start ${own}: ${error.message}\n`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

function askForNode() {
  const isCheckout = existsSync(join(root, "scripts", "setup.mjs"));
  const fix = isCheckout
    ? `node ${join(root, "scripts", "setup.mjs")} (fetches Node 24 for this project only)`
    : "install Node 24.15 or newer from https://nodejs.org, then retry";
  process.stderr.write(`OpenClaw needs Node 24.15 or newer; this is Node ${process.versions.node}.\nfix: ${fix}\n`);
  process.exitCode = 1;
}
