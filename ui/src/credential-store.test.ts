import assert from "node:assert/strict";
import { test } from "node:test";

import { createMemoryStorage, createCredentialStore } from "./credential-store.ts";

test("returns a device token only for its own key", () => {
  const credentials = createCredentialStore(createMemoryStorage(), "/");
  credentials.write({ device: "d" }, "key-1");
  assert.deepEqual(credentials.read("key-1"), { device: "d" });
  assert.deepEqual(credentials.read("key-2"), {});
  assert.deepEqual(credentials.read(undefined), {});
});

test("never stores passwords and one-time codes", () => {
  const rows: string[] = [];
  const storage = createMemoryStorage();
  createCredentialStore({ ...storage, setItem: (_key, words) => void rows.push(words) }, "/").write(
    { password: "p4ss", link: "c0de", token: "t" },
    "k",
  );
  assert.deepEqual(rows, ['{"token":"t"}']);
});

test("erases a dropped token and keeps other settings", () => {
  const storage = createMemoryStorage();
  storage.setItem("openclaw.control.settings.v1", '{"token":"t","accent":"red"}');
  createCredentialStore(storage, "/").write({}, "k");
  assert.equal(storage.getItem("openclaw.control.settings.v1"), '{"accent":"red"}');
});

test("separates two gateways of one origin by base path", () => {
  const storage = createMemoryStorage();
  createCredentialStore(storage, "/one/").write({ device: "d1" }, "k");
  assert.deepEqual(createCredentialStore(storage, "/two/").read("k"), {});
  assert.deepEqual(createCredentialStore(storage, "/one/").read("k"), { device: "d1" });
});

test("ignores a damaged row", () => {
  const storage = createMemoryStorage();
  storage.setItem("openclaw.control.device.v1", "{half");
  storage.setItem("openclaw.control.settings.v1", "17");
  assert.deepEqual(createCredentialStore(storage, "/").read("k"), {});
});
