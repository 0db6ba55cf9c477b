// Finding other paths to a folder from the mount table.
import assert from "node:assert/strict";
import { test } from "node:test";

import { otherPathsOf, parseMounts } from "./mounts.ts";

const table = (...rows: string[]) =>
  parseMounts(rows.map((row, at) => `${at + 20} 1 ${row} rw - ext4 /dev/x rw`).join("\n"));

test("finds no other path when each file system is mounted once", () => {
  assert.deepEqual(otherPathsOf("/home/me/.openclaw", table("8:1 / /", "8:2 / /home", "0:5 / /proc")), []);
});

test("finds a file system that is mounted twice", () => {
  const mounts = table("8:1 / /", "8:2 / /home", "8:2 / /mnt/home");
  assert.deepEqual(otherPathsOf("/home/me/.openclaw", mounts), ["/mnt/home/me/.openclaw"]);
});

test("finds a bind mount of a folder above it, and of a folder in it", () => {
  const mounts = table(
    "8:1 / /",
    "8:1 /home /srv/h",
    "8:1 /home/me/.openclaw/credentials /srv/keys",
    "8:1 /etc /srv/e",
  );
  assert.deepEqual(otherPathsOf("/home/me/.openclaw", mounts), ["/srv/h/me/.openclaw", "/srv/keys"]);
});

test("finds subvolumes under the mount of their whole disk", () => {
  const mounts = table("0:30 /@ /", "0:30 /@home /home", "0:30 / /mnt/disk");
  assert.deepEqual(otherPathsOf("/home/me/.openclaw", mounts), ["/mnt/disk/@home/me/.openclaw"]);
});

test("finds a bind mount of exactly this folder, with a blank in its name", () => {
  const mounts = table("8:1 / /", String.raw`8:1 /home/me/my\040state /srv/s\134t`);
  assert.deepEqual(otherPathsOf("/home/me/my state", mounts), [String.raw`/srv/s\t`]);
});
