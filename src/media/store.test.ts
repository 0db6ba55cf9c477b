import assert from "node:assert/strict";
import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";

import type { OpenClawError } from "../core/error.ts";
import { systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { createMediaStore, type MediaStore, type MediaStoreOptions } from "./store.ts";

const states: string[] = [];
after(() => states.forEach((state) => rmSync(state, { recursive: true, force: true })));
const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => silent };

function openStoreFor(
  more: Partial<MediaStoreOptions> = {},
): MediaStore & { readonly state: string; files(origin: string): string[] } {
  const state = mkdtempSync(join(tmpdir(), "openclaw-media-"));
  states.push(state);
  const store = createMediaStore({ state, clock: systemClock, log: silent, ...more });
  store.close();
  return { ...store, state, files: (origin) => readdirSync(join(state, "media", origin)) };
}

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  "base64",
);
const wav = Buffer.from("RIFF\x24\0\0\0WAVEfmt \x10\0\0\0", "latin1");
const code = (wanted: string) => (error: unknown) => (error as OpenClawError).code === wanted;

async function* parts(...given: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* given;
}

test("saves privately under a new name with the extension of the content", async () => {
  const store = openStoreFor();
  const saved = await store.save("inbound", parts(wav.subarray(0, 5), wav.subarray(5)));
  assert.deepEqual(
    { ...saved, path: basename(saved.path).slice(36) },
    {
      path: ".wav",
      mimeType: "audio/wav",
      kind: "audio",
      size: wav.length,
    },
  );
  assert.equal(statSync(saved.path).mode & 0o777, 0o600);
  assert.equal(statSync(join(store.folder, "inbound")).mode & 0o777, 0o700);
  assert.deepEqual(readFileSync(saved.path), wav);
  assert.match((await store.save("outbound", Buffer.from("<html></html>"))).path, /outbound\/[0-9a-f-]{36}\.txt$/);
});

test("stops a source that grows past the limit and leaves no file", async () => {
  const store = openStoreFor({ maxFileBytes: 100 });
  let given = 0;
  async function* endless(): AsyncIterable<Uint8Array> {
    for (;;) {
      given += 40;
      yield Buffer.alloc(40);
    }
  }
  await assert.rejects(store.save("inbound", endless()), code("media.too-large"));
  assert.equal(given, 120);
  await assert.rejects(store.save("inbound", Buffer.alloc(20), 10), code("media.too-large"));
  await assert.rejects(store.save("inbound", parts()), code("media.empty"));
  await assert.rejects(
    store.save(
      "inbound",
      (async function* () {
        yield wav;
        throw new Error("the connection was lost");
      })(),
    ),
    /connection was lost/,
  );
  assert.deepEqual(store.files("inbound"), []);
});

test("deletes expired files and, over the limit, the oldest, but no file of the owner", async () => {
  const store = openStoreFor({ maxTotalBytes: 250 });
  const mine = join(store.folder, "inbound", "holiday.jpg");
  mkdirSync(join(store.folder, "inbound"), { recursive: true });
  writeFileSync(mine, Buffer.alloc(1000));
  const hoursOld = (path: string, hours: number): void => {
    const at = (Date.now() - hours * 3_600_000) / 1000;
    utimesSync(path, at, at);
  };
  hoursOld(mine, 10_000);
  const keep = async (origin: "inbound" | "browser", hours: number): Promise<string> => {
    const { path } = await store.save(origin, Buffer.alloc(100, 1));
    hoursOld(path, hours);
    return path;
  };
  const [week, day, fresh] = [await keep("inbound", 169), await keep("inbound", 25), await keep("browser", 25)];
  const last = await keep("browser", 0);
  assert.deepEqual([week, day, fresh, last, mine].map(existsSync), [false, true, false, true, true]);
  const [first, second] = [await keep("inbound", 2), await keep("inbound", 1)];
  assert.deepEqual([day, last, first, second].map(existsSync), [false, true, false, true]);
});

test("opens its own files by content and refuses every other path", async () => {
  const store = openStoreFor();
  const { path } = await store.save("browser", png);
  const opened = await store.open(path);
  assert.deepEqual([opened.mimeType, opened.kind, opened.size], ["image/png", "image", png.length]);
  await opened.handle.close();
  const secret = join(store.state, "secret.txt");
  writeFileSync(secret, "token");
  const link = join(store.folder, "browser", "link.png");
  symlinkSync(secret, link);
  const hard = join(store.folder, "browser", "hard.png");
  linkSync(secret, hard);
  for (const wrong of [secret, "../secret.txt", join(store.folder, "..", "secret.txt"), link, hard, "/etc/passwd"])
    await assert.rejects(store.open(wrong), /outside|link/, wrong);
  await assert.rejects(store.open(join(store.folder, "inbound", "gone.png")), code("fs.not-found"));
});
