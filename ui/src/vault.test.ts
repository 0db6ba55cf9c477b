import assert from "node:assert/strict";
import { test } from "node:test";

import { createMemoryShelf, createVault } from "./vault.ts";

test("a device token comes back for its own key only", () => {
  const vault = createVault(createMemoryShelf(), "/");
  vault.write({ device: "d" }, "key-1");
  assert.deepEqual(vault.read("key-1"), { device: "d" });
  assert.deepEqual(vault.read("key-2"), {});
  assert.deepEqual(vault.read(undefined), {});
});

test("passwords and one-time codes are never written", () => {
  const rows: string[] = [];
  const shelf = createMemoryShelf();
  createVault({ ...shelf, setItem: (_key, words) => void rows.push(words) }, "/").write(
    { password: "p4ss", link: "c0de", token: "t" },
    "k",
  );
  assert.deepEqual(rows, ['{"token":"t"}']);
});

test("a token that is no longer held is erased, other settings stay", () => {
  const shelf = createMemoryShelf();
  shelf.setItem("openclaw.control.settings.v1", '{"token":"t","accent":"red"}');
  createVault(shelf, "/").write({}, "k");
  assert.equal(shelf.getItem("openclaw.control.settings.v1"), '{"accent":"red"}');
});

test("two gateways of one origin are kept apart by their base path", () => {
  const shelf = createMemoryShelf();
  createVault(shelf, "/one/").write({ device: "d1" }, "k");
  assert.deepEqual(createVault(shelf, "/two/").read("k"), {});
  assert.deepEqual(createVault(shelf, "/one/").read("k"), { device: "d1" });
});

test("a broken row is as good as none", () => {
  const shelf = createMemoryShelf();
  shelf.setItem("openclaw.control.device.v1", "{half");
  shelf.setItem("openclaw.control.settings.v1", "17");
  assert.deepEqual(createVault(shelf, "/").read("k"), {});
});
