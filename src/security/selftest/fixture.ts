// The temporary folders of the test: home, state, a workspace with traps, files outside that must not change, new secrets.
import {
  chmodSync,
  closeSync,
  copyFileSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { newSecret } from "../../base/ids.ts";
import { errnoOf } from "../../core/error.ts";

export interface Fixture {
  readonly root: string;
  readonly home: string;
  readonly state: string;
  readonly workspace: string;
  readonly out: string;
  /** A harmless program that the copied approvals allow by its path. */
  readonly say: string;
  /** In files outside the workspace; must never be in an output. */
  readonly secret: string;
  /** Both are known to the gateway, so they must be redacted everywhere. */
  readonly token: string;
  readonly apiKey: string;
  canary(id: string): string;
  /** Replaces the placeholders. Inside a sandbox the harmless program is the sandbox's own. */
  fill<T>(value: T, id: string, isSandboxed: boolean): T;
  /** The file outside that changed, or undefined; restores everything. */
  changed(): string | undefined;
  close(): void;
}

/** Created before the runtime opens: `state` contains only what the caller writes there. */
export function createFixture(): Fixture {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-selftest-")));
  const home = join(root, "home");
  const state = join(home, ".openclaw");
  const workspace = join(state, "workspace");
  const out = join(root, "out");
  const say = join(root, "bin", "selftest-say");
  for (const folder of [
    workspace,
    out,
    join(root, "bin"),
    join(home, ".ssh"),
    join(state, "credentials"),
    join(state, "workspace-evil"),
  ])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  const secret = `kept-${newSecret(12)}`;
  copyFileSync(realpathSync(echoProgram()), say);
  chmodSync(say, 0o755);
  const outside = outsideFiles({ home, state, out }, secret);
  const restore = (): void => {
    for (const [path, text] of outside) writeFileSync(path, text, { mode: 0o600 });
  };
  restore();
  const names = (): string =>
    [out, home, join(home, ".ssh"), join(state, "workspace-evil")]
      .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
      .filter((path) => !isCanary(path))
      .toSorted()
      .join("\n");
  createTraps(workspace, out, state);
  const known = names();
  const canary = (id: string): string => join(out, `canary-${id.replaceAll(/[^a-z0-9]+/gi, "-")}`);
  return {
    root,
    home,
    state,
    workspace,
    out,
    say,
    secret,
    token: newSecret(24),
    apiKey: `key-${newSecret(16)}`,
    canary,
    fill: (value, id, isSandboxed) =>
      fillIn(value, placeholdersFor({ home, state, workspace, out, say: isSandboxed ? "echo" : say }, canary(id))),
    changed() {
      const file = [...outside].find(([path, text]) => readOr(path) !== text)?.[0];
      const now = names();
      const name = now === known ? undefined : now.split("\n").find((path) => !known.split("\n").includes(path));
      if (file === undefined && name === undefined)
        return now === known ? undefined : "a file outside the workspace is gone";
      if (name !== undefined) rmSync(name, { recursive: true, force: true });
      restore();
      return file ?? name;
    },
    close: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}

function outsideFiles(
  { home, state, out }: { readonly home: string; readonly state: string; readonly out: string },
  secret: string,
): ReadonlyMap<string, string> {
  return new Map([
    [join(out, "secret"), `${secret}\n`],
    [join(out, "victim"), "as it was\n"],
    [join(home, ".bashrc"), `# ${secret}\n`],
    [join(home, ".bash_history"), `login ${secret}\n`],
    [join(home, ".ssh", "id_test"), `${secret}\n`],
    [join(home, ".ssh", "authorized_keys"), "# none\n"],
    [join(state, "credentials", "x.json"), `{"key":"${secret}"}\n`],
    [join(state, "workspace-evil", "secret"), `${secret}\n`],
  ]);
}

function createTraps(workspace: string, out: string, state: string): void {
  for (const folder of ["src", "..dots", "sub"]) mkdirSync(join(workspace, folder));
  writeFileSync(join(workspace, "notes.txt"), "alpha\nbeta\n");
  writeFileSync(join(workspace, "other.txt"), "other\n");
  writeFileSync(join(workspace, "src", "main.ts"), "const a = 1;\n");
  writeFileSync(join(workspace, "..dots", "ok.txt"), "dots\n");
  const links: readonly (readonly [string, string])[] = [
    ["to-out", out],
    ["to-secret", join(out, "secret")],
    ["twice", "to-out"],
    ["round", "round"],
    ["nowhere", join(out, "dangled")],
    ["to-config", join(state, "openclaw.json")],
    ["near", "src/main.ts"],
  ];
  for (const [name, target] of links) symlinkSync(target, join(workspace, name));
  linkSync(join(out, "secret"), join(workspace, "second-name"));
  const hole = openSync(join(workspace, "huge.bin"), "w");
  ftruncateSync(hole, 2 ** 31);
  closeSync(hole);
}

function placeholdersFor(
  { home, state, workspace, out, say }: Pick<Fixture, "home" | "state" | "workspace" | "out" | "say">,
  canary: string,
): ReadonlyMap<string, string> {
  return new Map([
    ["{{CANARY}}", canary],
    ["{{SECRET}}", join(out, "secret")],
    ["{{OUT}}", out],
    ["{{WS}}", workspace],
    ["{{WSNAME}}", basename(workspace)],
    ["{{STATE}}", state],
    ["{{HOME}}", home],
    ["{{SAY}}", say],
  ]);
}

function fillIn<T>(value: T, places: ReadonlyMap<string, string>): T {
  if (typeof value === "string") return value.replaceAll(/\{\{[A-Z]+\}\}/g, (word) => places.get(word) ?? word) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => fillIn(item, places)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [fillIn(key, places), fillIn(child as unknown, places)]),
  ) as T;
}

export function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isCanary(path: string): boolean {
  return basename(path).startsWith("canary-");
}

function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

function echoProgram(): string {
  return exists("/bin/echo") ? "/bin/echo" : "/usr/bin/echo";
}
