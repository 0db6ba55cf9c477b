// The files of the Chrome extension: copied from the package into the state folder, with the port and token of the relay.
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { relayToken } from "./relay/token.ts";

export interface InstalledExtension {
  readonly path: string;
  readonly port: number;
}

/** The folder to load in Chrome; never a folder of the package, because an update would change its path. */
export function extensionPath(stateDir: string): string {
  return join(stateDir, "browser", "chrome-extension");
}

export function isExtensionInstalled(stateDir: string): boolean {
  return existsSync(join(extensionPath(stateDir), SETTINGS_FILE));
}

/** Replaces an older copy. The extension reads the port and the token from its own folder. */
export function installExtension(stateDir: string, relayPort: number): InstalledExtension {
  const path = extensionPath(stateDir);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true, mode: 0o700 });
  cpSync(packagedFiles(), path, { recursive: true });
  const settings = { port: relayPort, token: relayToken(stateDir) };
  writeFileSync(join(path, SETTINGS_FILE), `${JSON.stringify(settings, undefined, 2)}\n`, { mode: 0o600 });
  return { path, port: relayPort };
}

const SETTINGS_FILE = "relay.json";

/** `extension/` at the root of the package: two levels up from the sources, one level up from `dist`. */
function packagedFiles(): string {
  const candidates = ["../extension/", "../../extension/"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = candidates.find((path) => existsSync(join(path, "manifest.json")));
  if (found === undefined) throw new Error("the package has no extension folder; install openclaw again");
  return found;
}
