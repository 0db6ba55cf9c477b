// The version of this build, from the package.json of the sources or the bundle.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export function readVersion(): string {
  const file = ["../package.json", "../../package.json"].map((path) => new URL(path, import.meta.url)).find(isPackage);
  if (file === undefined) return "unknown";
  const parsed: unknown = JSON.parse(readFileSync(file, "utf8"));
  return typeof parsed === "object" && parsed !== null && "version" in parsed ? String(parsed.version) : "unknown";
}

function isPackage(url: URL): boolean {
  try {
    return readFileSync(url, "utf8").includes('"name": "openclaw"');
  } catch {
    return false; // not here: the bundle and the sources have different depths
  }
}

/** The folder with package.json that this build runs from. */
export function packageRoot(): string {
  let folder = dirname(realpathSync(fileURLToPath(import.meta.url)));
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
