// What a production install costs: the packed package with its dependencies, in a folder of its own.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { root } from "../test/harness/gateway.ts";
import { atMost, type Row } from "./table.ts";

export function benchInstall(): Row[] {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-install-"));
  const npm = (args: string[], cwd: string): string =>
    execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const packed = npm(["pack", "--ignore-scripts", "--pack-destination", folder], root).trim().split("\n").at(-1) ?? "";
  npm(["init", "-y"], folder);
  npm(["install", "--omit=dev", "--no-audit", "--no-fund", join(folder, packed)], folder);
  const modules = join(folder, "node_modules");
  const [megabytes, packages] = [
    bytesIn(modules) / 1e6,
    npm(["ls", "--all", "--parseable"], folder).trim().split("\n").length - 1,
  ];
  rmSync(folder, { recursive: true, force: true });
  return [
    atMost("production install, size", megabytes, 160, " MB"),
    atMost("production install, packages", packages, 130, ""),
  ];
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((total, entry) => total + statSync(join(entry.parentPath, entry.name)).size, 0);
}
