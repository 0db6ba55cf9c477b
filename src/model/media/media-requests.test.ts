// Requests with a file: streamed whole whatever the pieces, to one host only, with failures classified.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import fc from "fast-check";

import { MEDIA_KEY, startFakeMedia, type FakeMedia } from "../../../test/fakes/media.ts";
import type { ModelEndpoint } from "../model.ts";
import { generateContent } from "./generate-content.ts";
import type { MediaSource } from "./post-file.ts";
import { transcribe } from "./transcribe.ts";

let fake: FakeMedia;
before(async () => {
  fake = await startFakeMedia();
});
after(() => fake.close());

const never = new AbortController().signal;
const endpoint = (api: "openai" | "google"): ModelEndpoint => ({
  ref: { provider: api, id: "model-1" },
  api,
  baseUrl: `${fake.url}/${api === "openai" ? "v1" : "v1beta"}/`,
  headers: {},
  credential: { kind: "key", value: MEDIA_KEY },
  profile: "config",
});
const source = (parts: readonly Uint8Array[]): MediaSource => ({
  fileName: "a.wav",
  mimeType: "audio/wav",
  size: parts.reduce((sum, part) => sum + part.length, 0),
  async *open() {
    yield* parts;
  },
});

test("the service gets the same bytes, whatever the pieces they are read in", async () => {
  const pieces = fc.array(fc.uint8Array({ minLength: 0, maxLength: 50 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(pieces, fc.constantFrom("openai" as const, "google" as const), async (parts, api) => {
      const whole = Buffer.concat(parts);
      if (whole.length === 0) return;
      const prompt = 'say "yes"\\ \n';
      const answer =
        api === "openai"
          ? await transcribe(endpoint(api), source(parts), {}, never)
          : await generateContent(endpoint(api), source(parts), { system: "s", prompt }, never);
      assert.equal("text" in answer ? answer.text : answer.failure.message, "heard");
      assert.deepEqual(fake.requests.at(-1)?.bytes, whole);
    }),
    { numRuns: 40 },
  );
});

test("a failed service is classified without the key, and an answer without text is a failure", async () => {
  fake.script = () => 503;
  const failed = await transcribe(endpoint("openai"), source([Buffer.from("x")]), {}, never);
  assert.equal("failure" in failed && failed.failure.kind, "overloaded");
  assert.equal(JSON.stringify(failed).includes(MEDIA_KEY), false);
  fake.script = () => "  ";
  const empty = await generateContent(
    endpoint("google"),
    source([Buffer.from("x")]),
    { system: "", prompt: "" },
    never,
  );
  assert.equal("failure" in empty && empty.failure.kind, "empty");
  fake.script = () => "hang";
  const aborted = await transcribe(endpoint("openai"), source([Buffer.from("x")]), {}, AbortSignal.timeout(50));
  assert.ok("failure" in aborted);
  fake.script = () => "heard";
});

test("MED-107 a redirect of the service takes neither the key nor the file to another host", async () => {
  let reached = 0;
  const other = createServer((_request, response) => {
    reached += 1;
    response.end("{}");
  });
  await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
  const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
  const redirecting = createServer((_request, response) => void response.writeHead(307, { location }).end());
  await new Promise<void>((listening) => redirecting.listen(0, "127.0.0.1", listening));
  const baseUrl = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`;
  const result = await transcribe({ ...endpoint("openai"), baseUrl }, source([Buffer.alloc(100_000)]), {}, never);
  assert.ok("failure" in result);
  assert.equal(reached, 0);
  for (const server of [other, redirecting]) {
    server.closeAllConnections();
    server.close();
  }
});
