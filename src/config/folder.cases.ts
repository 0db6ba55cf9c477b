// A state folder with real files for one test.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";

import { resolvePaths, type Env, type Paths } from "../base/paths.ts";

export interface StateFolder {
  readonly folder: string;
  readonly paths: Paths;
  readonly env: Env;
  readonly write: (name: string, text: string) => string;
}

/** `files` by name relative to the state folder; `openclaw.json` is the config. */
export function makeStateFolder(
  test: TestContext,
  files: Readonly<Record<string, string>>,
  env: Env = {},
): StateFolder {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-config-")));
  test.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, ".openclaw");
  mkdirSync(folder);
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const full = { HOME: home, ...env };
  return { folder, paths: resolvePaths(full), env: full, write };
}
