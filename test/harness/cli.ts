// What tests of the command line share: a home of its own, the real command, one cache of compiled code for all of them.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openclaw, tempHome, type Ran } from "./gateway.ts";

export interface Cli {
  readonly home: string;
  readonly state: string;
  readonly config: string;
  run(...words: readonly string[]): Promise<Ran>;
  runWith(env: Record<string, string>, ...words: readonly string[]): Promise<Ran>;
  /** The config file as it is now. */
  text(): string;
  write(text: string): void;
  dispose(): void;
}

/** Without a text there is no config and no state folder: an empty home. */
export function newCli(text?: string, home = tempHome()): Cli {
  const state = join(home, ".openclaw");
  const config = join(state, "openclaw.json");
  const write = (next: string): void => {
    mkdirSync(state, { recursive: true, mode: 0o700 });
    writeFileSync(config, next, { mode: 0o600 });
  };
  if (text !== undefined) write(text);
  // Type stripping costs more than the commands themselves, so the tests share its results.
  const cache = { XDG_CACHE_HOME: join(tmpdir(), "openclaw-test-cache") };
  return {
    home,
    state,
    config,
    run: (...words) => openclaw(home, words, cache),
    runWith: (env, ...words) => openclaw(home, words, { ...cache, ...env }),
    text: () => (existsSync(config) ? readFileSync(config, "utf8") : ""),
    write,
    dispose: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** A command must have ended well; says what it printed when not. */
export function wellEnded({ code, stdout, stderr }: Ran): string {
  if (code !== 0) throw new Error(`exit ${code}\n${stdout}\n${stderr}`);
  return stdout;
}
