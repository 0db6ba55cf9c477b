// The token that the extension shows to the relay: created once, kept in a private file.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { newSecret } from "../../base/ids.ts";
import { errnoOf } from "../../core/error.ts";

export function relayToken(stateDir: string): string {
  const folder = join(stateDir, "browser");
  const file = join(folder, "relay-token");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, newSecret(32), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
  return readFileSync(file, "utf8").trim();
}
