import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { OpenClawError } from "../core/error.ts";
import type { AnchorKind } from "./rooted-anchor.ts";
import { openRoot, type Root, type RootOptions, type Visit } from "./rooted-fs.ts";

const kinds: readonly AnchorKind[] = process.platform === "linux" ? ["proc", "compare"] : ["compare"];
const home = realpathSync(mkdtempSync(join(tmpdir(), "rooted-")));
after(() => rmSync(home, { recursive: true, force: true }));
let count = 0;

interface Ground {
  readonly ws: string;
  readonly out: string;
  readonly root: Root;
}

async function ground(anchors: AnchorKind, options: Partial<RootOptions> = {}): Promise<Ground> {
  const base = join(home, `g${(count += 1)}`);
  const [ws, out] = [join(base, "ws"), join(base, "ws-evil")];
  for (const folder of [join(ws, "sub"), out]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(ws, "ok.txt"), "fine\n");
  writeFileSync(join(ws, "sub", "in.txt"), "inner\n");
  writeFileSync(join(out, "secret"), "S3CRET-CANARY\n");
  return { ws, out, root: await openRoot({ root: ws, anchors, ...options }) };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "ok";
  } catch (error) {
    assert.ok(error instanceof OpenClawError, String(error));
    assert.ok(error.hint !== undefined && error.hint !== "", `${error.code} has no way out`);
    return error.code;
  }
}

const textAt = async (root: Root, path: string): Promise<string> =>
  (await root.read(path, { maxBytes: 1000 })).bytes.toString();
const tempsIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.endsWith(".tmp"));

for (const anchors of kinds) {
  describe(`with ${anchors} handles`, () => {
    test("rejects paths that leave the root, however they are spelled", async () => {
      const { ws, out, root } = await ground(anchors);
      for (const path of [
        "../ws-evil/secret",
        "/etc/passwd",
        `${ws}/../ws-evil/secret`,
        `${out}/secret`,
        "sub/../../ws-evil/secret",
        "..",
        "/",
        `${ws}-evil/secret`,
      ]) {
        assert.equal(await codeOf(root.read(path, { maxBytes: 100 })), "fs.outside", path);
        assert.equal(await codeOf(root.write(path, Buffer.from("x"))), "fs.outside", path);
        assert.equal(await codeOf(root.remove(path)), "fs.outside", path);
        assert.equal(await codeOf(root.makeFolder(path)), "fs.outside", path);
        assert.equal(await codeOf(root.rename("ok.txt", path)), "fs.outside", path);
        assert.equal(await codeOf(root.list(path, 5)), "fs.outside", path);
      }
      root.close();
    });

    test("accepts ordinary spellings", async () => {
      const { ws, root } = await ground(anchors);
      for (const path of [
        "ok.txt",
        "./ok.txt",
        "sub/../ok.txt",
        `${ws}/ok.txt`,
        `//${ws}//ok.txt`,
        "sub/.././ok.txt",
      ]) {
        assert.equal(await textAt(root, path), "fine\n", path);
      }
      mkdirSync(join(ws, "..hidden"));
      writeFileSync(join(ws, "..hidden", "file"), "dots\n");
      assert.equal(await textAt(root, "..hidden/file"), "dots\n");
      root.close();
    });

    test("follows links inside the root, but no links out of it and no dangling ones", async () => {
      const { ws, out, root } = await ground(anchors);
      const links: readonly [name: string, target: string][] = [
        ["near", "sub/in.txt"],
        ["near-abs", join(ws, "sub")],
        ["up-and-in", "../ws/sub"],
        ["far", join(out, "secret")],
        ["far-rel", "../ws-evil/secret"],
        ["far-dir", out],
        ["chain", "far-dir"],
        ["dangling", join(out, "new")],
        ["dangling-in", "not-there"],
        ["loop", "loop"],
        ["sub/root", "/"],
        ["proc", "/proc/self/root"],
      ];
      for (const [name, target] of links) symlinkSync(target, join(ws, name));
      assert.equal(await textAt(root, "near"), "inner\n");
      assert.equal(await textAt(root, "near-abs/in.txt"), "inner\n");
      for (const path of [
        "up-and-in/in.txt",
        "far",
        "far-rel",
        "far-dir/secret",
        "chain/secret",
        "loop",
        "sub/root/etc/passwd",
        "proc/etc/passwd",
        "near-abs/../ok.txt",
      ]) {
        assert.equal(await codeOf(root.read(path, { maxBytes: 100 })), "fs.link", path);
        assert.equal(await codeOf(root.write(path, Buffer.from("x"))), "fs.link", path);
      }
      for (const path of ["dangling", "dangling-in", "far-dir/new", "chain/deep/new", "dangling/deeper/x"]) {
        assert.equal(await codeOf(root.write(path, Buffer.from("x"))), "fs.link", path);
        assert.equal(await codeOf(root.makeFolder(path)), "fs.link", path);
      }
      assert.equal(await codeOf(root.read("dangling-in", { maxBytes: 100 })), "fs.not-found");
      await root.write("near", Buffer.from("changed\n"));
      assert.equal(readFileSync(join(ws, "sub", "in.txt"), "utf8"), "changed\n");
      assert.ok(lstatSync(join(ws, "near")).isSymbolicLink(), "writing through a link keeps the link");
      assert.deepEqual(readdirSync(out), ["secret"]);
      root.close();
    });

    test("removes and renames a link itself", async () => {
      const { ws, out, root } = await ground(anchors);
      symlinkSync(join(out, "secret"), join(ws, "far"));
      symlinkSync("ok.txt", join(ws, "near"));
      await root.remove("far");
      await root.rename("near", "made/by/move");
      assert.equal(readFileSync(join(out, "secret"), "utf8"), "S3CRET-CANARY\n");
      assert.deepEqual(readdirSync(ws).toSorted(), ["made", "ok.txt", "sub"]);
      assert.ok(lstatSync(join(ws, "made/by/move")).isSymbolicLink());
      assert.equal(await codeOf(root.rename("made/by/move", "ok.txt")), "fs.exists");
      assert.equal(await codeOf(root.rename("nothing", "x")), "fs.not-found");
      assert.equal(await codeOf(root.remove("sub")), "fs.is-directory");
      symlinkSync(out, join(ws, "dir"));
      assert.equal(await codeOf(root.remove("dir/secret")), "fs.link");
      assert.equal(await codeOf(root.rename("ok.txt", "dir/evil")), "fs.link");
      assert.deepEqual(readdirSync(out), ["secret"]);
      root.close();
    });

    test("rejects a file with a second hard link, except where sharing is usual", async () => {
      const { ws, out, root } = await ground(anchors, { mayShare: (real) => real.includes("/node_modules/") });
      mkdirSync(join(ws, "node_modules"));
      linkSync(join(out, "secret"), join(ws, "hard"));
      linkSync(join(ws, "ok.txt"), join(ws, "node_modules", "x"));
      assert.equal(await codeOf(root.read("hard", { maxBytes: 100 })), "fs.link");
      assert.equal(await codeOf(root.write("hard", Buffer.from("x"))), "fs.link");
      assert.equal(await textAt(root, "node_modules/x"), "fine\n");
      assert.equal(await codeOf(root.write("node_modules/x", Buffer.from("x"))), "fs.link");
      await root.remove("hard");
      assert.equal(readFileSync(join(out, "secret"), "utf8"), "S3CRET-CANARY\n");
      root.close();
    });

    test("rejects pipes, sockets and folders immediately", { timeout: 300_000 }, async () => {
      const { ws, root } = await ground(anchors);
      execFileSync("mkfifo", [join(ws, "pipe")]);
      assert.equal(await codeOf(root.read("pipe", { maxBytes: 100 })), "fs.special-file");
      assert.equal(await codeOf(root.write("pipe", Buffer.from("x"))), "fs.special-file");
      assert.equal(await codeOf(root.read("sub", { maxBytes: 100 })), "fs.is-directory");
      assert.equal(await codeOf(root.write("sub", Buffer.from("x"))), "fs.is-directory");
      assert.equal(await codeOf(root.write("new/", Buffer.from("x"))), "fs.is-directory");
      assert.equal(await codeOf(root.read("ok.txt/", { maxBytes: 100 })), "fs.not-directory");
      assert.equal(await codeOf(root.write("ok.txt/x", Buffer.from("x"))), "fs.not-directory");
      const disk = await openRoot({ root: "/", anchors });
      for (const device of ["/dev/zero", "/dev/tty", "/dev/null"]) {
        assert.equal(await codeOf(disk.read(device, { maxBytes: 100 })), "fs.special-file", device);
      }
      disk.close();
      root.close();
    });

    test("rejects names that the file system does not support before creating anything", async () => {
      const { ws, root } = await ground(anchors);
      assert.equal(await codeOf(root.write(`new/${"a".repeat(256)}`, Buffer.from("x"))), "fs.name-too-long");
      assert.equal(await codeOf(root.write(`new/${"ü".repeat(200)}`, Buffer.from("x"))), "fs.name-too-long");
      assert.equal(await codeOf(root.write("new/a\0b", Buffer.from("x"))), "fs.bad-path");
      assert.equal(await codeOf(root.read("missing/../ok.txt", { maxBytes: 10 })), "fs.not-found");
      assert.deepEqual(readdirSync(ws).toSorted(), ["ok.txt", "sub"]);
      root.close();
    });

    test("a write creates folders, keeps permissions, leaves no temp file, and can require a version", async () => {
      const { ws, root } = await ground(anchors);
      assert.deepEqual(await root.write("a/b/c.txt", Buffer.from("1")), { real: join(ws, "a/b/c.txt"), created: true });
      chmodSync(join(ws, "a/b/c.txt"), 0o755);
      const { version } = await root.read("a/b/c.txt", { maxBytes: 10 });
      assert.deepEqual(await root.write("a/b/c.txt", Buffer.from("2"), { version }), {
        real: join(ws, "a/b/c.txt"),
        created: false,
      });
      assert.equal(statSync(join(ws, "a/b/c.txt")).mode & 0o777, 0o755);
      assert.equal(await codeOf(root.write("a/b/c.txt", Buffer.from("3"), { version })), "fs.changed");
      assert.equal(await codeOf(root.write("a/b/c.txt", Buffer.from("3"), { mustBeNew: true })), "fs.exists");
      assert.equal(await textAt(root, "a/b/c.txt"), "2");
      await root.write("empty", Buffer.alloc(0));
      assert.equal(await textAt(root, "empty"), "");
      assert.deepEqual(tempsIn(join(ws, "a/b")), []);
      root.close();
    });

    test("a staged file is visible only after commit; discard leaves nothing, not even its folders", async () => {
      const { ws, root } = await ground(anchors);
      const dropped = await root.stage("x/y/new.txt", Buffer.from("1"));
      await dropped.discard();
      assert.deepEqual(readdirSync(ws).toSorted(), ["ok.txt", "sub"]);
      const stale = await root.stage("ok.txt", Buffer.from("mine"), {
        version: (await root.read("ok.txt", { maxBytes: 10 })).version,
      });
      writeFileSync(join(ws, "ok.txt"), "theirs");
      assert.equal(await codeOf(stale.commit()), "fs.changed");
      assert.deepEqual([await textAt(root, "ok.txt"), tempsIn(ws)], ["theirs", []]);
      const control = new AbortController();
      const aborted = await root.stage("z.txt", Buffer.from("1"), { signal: control.signal });
      control.abort(new OpenClawError("tool.aborted", "stopped", { hint: "none" }));
      assert.equal(await codeOf(aborted.commit()), "tool.aborted");
      assert.deepEqual(readdirSync(ws).toSorted(), ["ok.txt", "sub"]);
      root.close();
    });

    test("calls the check with resolved paths and the links on the way, before any change", async () => {
      const visits: Visit[] = [];
      const { ws, root } = await ground(anchors, { check: (visit) => void visits.push(visit) });
      symlinkSync("sub", join(ws, "via"));
      await root.read("via/in.txt", { maxBytes: 100 });
      await root.write("via/new/x", Buffer.from("1"));
      assert.deepEqual(
        visits.map(({ access, real, trail }) => [access, real.slice(ws.length + 1), trail.length]),
        [
          ["follow", "via", 1],
          ["read", "sub/in.txt", 3],
          ["follow", "via", 1],
          ["write", "sub/new/x", 2],
        ],
      );
      root.close();
    });

    test("lists a bounded number of names", async () => {
      const { ws, root } = await ground(anchors);
      symlinkSync("ok.txt", join(ws, "near"));
      const { entries, more } = await root.list(".", 10);
      assert.deepEqual(
        { entries: entries.toSorted((a, b) => a.name.localeCompare(b.name)), more },
        {
          entries: [
            { name: "near", kind: "link" },
            { name: "ok.txt", kind: "file" },
            { name: "sub", kind: "directory" },
          ],
          more: false,
        },
      );
      assert.equal((await root.list("", 1)).more, true);
      root.close();
    });

    test("bounds reads and stops on abort", async () => {
      const { ws, root } = await ground(anchors);
      writeFileSync(join(ws, "big"), Buffer.alloc(3_000_000, 97));
      assert.equal(await codeOf(root.read("big", { maxBytes: 2_999_999 })), "fs.too-large");
      assert.equal((await root.read("big", { maxBytes: 3_000_000 })).bytes.length, 3_000_000);
      const signal = AbortSignal.abort(new OpenClawError("tool.aborted", "stopped", { hint: "none" }));
      assert.equal(await codeOf(root.read("big", { maxBytes: 9_000_000, signal })), "tool.aborted");
      root.close();
    });

    test("leaves no handle open", { skip: process.platform !== "linux" && "counts /proc/self/fd" }, async () => {
      const { ws, out, root } = await ground(anchors);
      symlinkSync(out, join(ws, "far"));
      const open = (): number => readdirSync("/proc/self/fd").length;
      const before = open();
      for (let round = 0; round < 5; round += 1) {
        await codeOf(root.read("far/secret", { maxBytes: 10 }));
        await codeOf(root.read("sub/in.txt/x", { maxBytes: 10 }));
        await codeOf(root.write("far/secret", Buffer.from("x")));
        await codeOf(root.write("d/e/f", Buffer.from("x")));
        await codeOf(root.write("d/e", Buffer.from("x")));
        await codeOf(root.rename("d/e/f", "ok.txt"));
        await codeOf(root.stat("d/../d/e/f"));
        await codeOf(root.remove("d/e/f"));
        await (await root.stage("q/r", Buffer.from("x"))).discard();
      }
      assert.equal(open(), before);
      root.close();
    });
  });
}

test("the next process that writes in a folder deletes temp files of killed processes, and keeps those of running ones", async () => {
  const { ws, root } = await ground("compare");
  const gone = spawn(process.execPath, ["-e", ""]);
  await new Promise((resolve) => gone.on("close", resolve));
  const [dead, alive, foreign] = [
    `.openclaw-${gone.pid}-0123456789ab.tmp`,
    `.openclaw-1-0123456789ab.tmp`,
    ".other.tmp",
  ];
  for (const name of [dead, alive, foreign]) writeFileSync(join(ws, name), "half");
  await root.write("ok.txt", Buffer.from("new"));
  assert.deepEqual(tempsIn(ws).toSorted(), [alive, foreign].toSorted());
  root.close();
});

test("reports a missing root", async () => {
  assert.equal(await codeOf(openRoot({ root: join(home, "nowhere") })), "fs.not-found");
});

test("readers of a constantly replaced file get one of its contents, never a failure", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "rooted-busy-")));
  const root = await openRoot({ root: folder });
  await root.write("x", Buffer.from("0"));
  let isOver = false;
  const writer = (async () => {
    for (let at = 0; !isOver; at += 1) await root.write("x", Buffer.from(String(at % 10)));
  })();
  for (let round = 0; round < 500; round += 1)
    assert.match((await root.read("x", { maxBytes: 10 })).bytes.toString(), /^\d$/);
  isOver = true;
  await writer;
  root.close();
  rmSync(folder, { recursive: true });
});
