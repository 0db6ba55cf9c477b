// Project paths, the Node version and the state of the build, shared by setup, build and scripts.
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const NODE_VERSION = "24.21.0";
export const toolsFolder = join(root, ".tools");

/** A Node that can run the sources: this one, or the one that setup installed. */
export function nodeBinary() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 24 || (major === 24 && minor >= 15)) return process.execPath;
  const own = join(
    toolsFolder,
    "node_modules",
    `node-${process.platform}-${process.arch}`,
    "bin",
    process.platform === "win32" ? "node.exe" : "node",
  );
  return existsSync(own) ? own : undefined;
}

/** True when no input of the build is newer than the build. */
export function isBuildFresh() {
  const stamp = join(root, "dist", "built");
  if (!existsSync(stamp)) return false;
  const built = statSync(stamp).mtimeMs;
  return ["src", "ui", "package.json", "package-lock.json"].every((part) => newest(join(root, part)) <= built);
}

function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(path, { withFileTypes: true }).reduce(
    (latest, entry) =>
      Math.max(latest, entry.isDirectory() ? newest(join(path, entry.name)) : statSync(join(path, entry.name)).mtimeMs),
    stat.mtimeMs,
  );
}
