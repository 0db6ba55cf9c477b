// Redacts secrets of jobs by name and by form, and keeps all other text.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createMask } from "../base/mask.ts";
import type { Job } from "./job.ts";
import { redactJob, redactText } from "./redact-job.ts";

const mask = createMask(["known-value-1"]);
const X = "__OPENCLAW_REDACTED__";

test("redacts values of secret names, flags, logins and URLs, and keeps the rest", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["mysql --password=abc db", `mysql --password=${X} db`],
    ["tool --api-key abc --verbose", `tool --api-key ${X} --verbose`],
    ["TOKEN='a b' ./run", `TOKEN=${X} ./run`],
    ['{"password": "a\\"b", "user": "me"}', `{"password": ${X}, "user": "me"}`],
    ["Authorization: Basic Zm9vOmJhcg==", `Authorization: Basic ${X}`],
    ["X-Api-Key: 12345", `X-Api-Key: ${X}`],
    ["curl -u me:pw https://h", `curl -u me:${X} https://h`],
    ["git clone https://me:pw@h/x.git", `git clone https://me:${X}@h/x.git`],
    ["https://h/?a=1&access_token=zzz&b=2", `https://h/?a=1&access_token=${X}&b=2`],
    ["say known-value-1", "say ***"],
    ["PGPASSWORD=abc psql", `PGPASSWORD=${X} psql`],
    ['curl -d "{\\"token\\":\\"abc\\"}" h', `curl -d "{\\"token\\":${X}}" h`],
    ["-H 'Cookie: a=abc; b=abc' h", `-H 'Cookie: ${X}' h`],
    ["sshpass -p abc ssh h", `sshpass -p ${X} ssh h`],
    ["post https://hooks.slack.com/services/T0/B0/abc now", `post https://hooks.slack.com/services/${X} now`],
  ];
  for (const [written, shown] of cases) assert.equal(redactText(written, mask), shown);
});

test("redacts argument lists and name-value pairs", () => {
  const payload = { argv: ["--token", "abc", "-u", "me:abc", "-v"], env: [{ name: "API_TOKEN", value: "abc" }] };
  const shown = { argv: ["--token", X, "-u", `me:${X}`, "-v"], env: [{ name: "API_TOKEN", value: X }] };
  assert.deepEqual(redactJob({ payload } as unknown as Job, mask), { payload: shown });
});

test("keeps ordinary words", () => {
  for (const text of [
    "the key is under the mat",
    "monkey=1 public_key=abc --token-file x --max-tokens 5",
    "remind me at 10:30: call mum",
    "https://example.org/a:b@c",
    "agent:main:cron:1",
  ])
    assert.equal(redactText(text, mask), text);
});

test("takes linear time for long repetitive texts", () => {
  for (const piece of ["a", "key", "--", "-u a:", "ab://", 'token="\\', "a://x", "cookie: ", 'token=\\"', "sshpass -p"])
    assert.equal(typeof redactText(piece.repeat(100_000 / piece.length), mask), "string");
});
