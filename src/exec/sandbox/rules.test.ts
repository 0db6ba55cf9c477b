// Settings that would open a sandbox or control the program that builds it are rejected.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import type { AgentId } from "../../core/names.ts";
import type { Paths } from "../../base/paths.ts";
import { sandboxSettings, type ContainerSettings } from "../sandbox-settings.ts";
import { parseBind } from "./bind-rules.ts";
import { checkContainer } from "./container-rules.ts";
import { canonicalPath, credentialPaths } from "./hidden-paths.ts";
import { bytesOf, limitsOf, ulimitScript } from "./limits.ts";
import { sandboxShell } from "./shell.ts";

const home = mkdtempSync(join(tmpdir(), "openclaw-rules-"));
after(() => rmSync(home, { recursive: true }));
const state = join(home, ".openclaw");
mkdirSync(join(home, "projects", "one"), { recursive: true });
mkdirSync(state);
const paths: Paths = { home, state, config: join(state, "openclaw.json"), product: "openclaw", profile: undefined };
const plain = sandboxSettings({}, "main" as AgentId, paths).docker;
const context = { home, hidden: [state, ...credentialPaths(home)].map(canonicalPath), taken: ["/workspace", "/agent"] };

const refusedBinds = [
  "/:/h",
  "//:/h",
  "/.:/h",
  "/var/run/docker.sock:/sock",
  "/run/docker.sock:/sock",
  "/var/run:/r",
  "/var:/v",
  "/run:/r",
  "/etc:/e:ro",
  "/etc/passwd:/p:ro",
  "/proc:/p",
  "/sys/fs:/s",
  "/dev:/d",
  "/boot:/b",
  "/root:/r",
  "/boot/../root:/r",
  "~:/home-of-mine",
  "~/.ssh:/keys:ro",
  "~/.aws:/a",
  "~/.openclaw:/state",
  "~/.openclaw/credentials:/c:ro",
  `${tmpdir()}:/t`,
  "~/projects/link-to-state:/x",
  "~/projects/link-to-root/var/run:/x",
  "~/projects:/workspace",
  "~/projects:/workspace/sub",
  "~/projects:/etc/x",
  "~/projects:/",
  "~/projects:/usr",
  "~/projects:relative",
  "projects:/p",
  "~/projects:/p:rwx",
  "~/projects:/p:ro:z",
  "~/projects",
  "-v:/p",
];

test("rejects mounts of the disk, the engine, the system, keys and our own state, in any spelling (SBX-001 to SBX-006)", () => {
  symlinkSync(state, join(home, "projects", "link-to-state"));
  symlinkSync("/", join(home, "projects", "link-to-root"));
  for (const bind of refusedBinds) assert.throws(() => parseBind(bind, context), { code: "sandbox.refused" }, bind);
});

test("mounts other folders with links resolved", () => {
  symlinkSync(join(home, "projects", "one"), join(home, "projects", "link"));
  assert.deepEqual(parseBind("~/projects/link:/p/", context), {
    inside: "/p",
    host: canonicalPath(join(home, "projects/one")),
    writable: true,
  });
  assert.deepEqual(parseBind(`${home}/projects/one:/p:ro`, context).writable, false);
});

const refusedSettings: Partial<ContainerSettings>[] = [
  { image: "--privileged" },
  { image: "-v" },
  { image: "debian --privileged" },
  { image: "" },
  { image: "a\nb" },
  { network: "host" },
  { network: "HOST" },
  { network: "container:abc" },
  { network: "--net=host" },
  { network: "" },
  { apparmorProfile: "unconfined" },
  { seccompProfile: "unconfined" },
  { containerPrefix: "-x" },
  { containerPrefix: "../x" },
  { user: "0:0 --privileged" },
  { workdir: "/" },
  { workdir: "relative" },
  { workdir: "/w,readonly=false" },
  { capDrop: ["ALL --cap-add=ALL"] },
  { tmpfs: ["/tmp,exec"] },
  { tmpfs: ["relative"] },
  { dns: ["--privileged"] },
  { extraHosts: ["--privileged"] },
  { env: { "A=B": "x" } },
  { env: { "-e": "x" } },
  { env: { A: "x\0y" } },
  { ulimits: { "nofile=1 --privileged": 1 } },
  { ulimits: { nofile: "many" } },
  { memory: "lots" },
  { memory: 0 },
];

test("rejects settings that hide options or remove protection (SBX-008, SBX-010)", () => {
  for (const change of refusedSettings) {
    assert.throws(() => checkContainer({ ...plain, ...change }), { code: "sandbox.refused" }, JSON.stringify(change));
  }
});

test("accepts ordinary settings", () => {
  checkContainer(plain);
  checkContainer({
    ...plain,
    image: "registry.example.com:5000/team/image:1.2@sha256:abc",
    network: "bridge",
    user: "1000:1000",
    memory: "1.5g",
    memorySwap: "2GiB",
    ulimits: { nofile: { soft: 1024, hard: 2048 }, core: 0 },
    dns: ["1.1.1.1", "fd00::1"],
    extraHosts: ["db:10.0.0.1", "me:host-gateway"],
    apparmorProfile: "docker-default",
    seccompProfile: "/etc/seccomp.json",
  });
});

test("reads common spellings of memory sizes", () => {
  assert.deepEqual(
    ["512m", "1g", "2GiB", "1.5k", 4096, "7"].map((value) => bytesOf(value, "memory")),
    [536_870_912, 1_073_741_824, 2_147_483_648, 1536, 4096, 7],
  );
});

test("applies default limits in the shell's units", () => {
  const limits = limitsOf({ ...plain, ulimits: { nofile: "100:200", stack: -1 } });
  assert.equal(limits.pids, 512);
  assert.ok(limits.memoryBytes > 0);
  assert.match(ulimitScript(limits), /ulimit -S -n 100 2>\/dev\/null; ulimit -H -n 200 /);
  assert.match(ulimitScript(limits), /ulimit -S -s unlimited /);
  assert.match(ulimitScript(limits), /ulimit -S -f 8388608 /);
});

test("adds a PATH without making it part of the script", () => {
  const { argv, env } = sandboxShell({
    command: "echo hi",
    env: { PATH: "/a:/b", X: "1" },
    pathPrepend: ["/$(touch x)", "/a"],
    sandboxEnv: { PATH: "/c" },
  });
  assert.deepEqual(env, { X: "1", OPENCLAW_PATH_PREFIX: "/$(touch x):/a:/b:/c" });
  assert.doesNotMatch(argv.join(" "), /touch/);
  assert.deepEqual(sandboxShell({ command: "echo hi", env: {}, pathPrepend: [] }), {
    argv: ["/bin/sh", "-lc", "echo hi"],
    env: {},
  });
});
