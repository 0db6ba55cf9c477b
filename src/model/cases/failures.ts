// Failures of the connection or the vendor, and their classification.
import assert from "node:assert/strict";
import { it } from "node:test";

import { call, drip, drop, fail, garbage, halfCall, hang, lateFail, say } from "../../../test/fakes/reply.ts";
import type { Script } from "../../../test/fakes/server.ts";
import { selfSigned } from "../../../test/fakes/tls.ts";
import type { ModelFailure } from "../model.ts";
import { ask, callsOf, failureOf, textOf } from "./ask.ts";
import { impatient, type OpenModelCase, type WireSubject } from "./subject.ts";

export function failures(subject: WireSubject, open: OpenModelCase): void {
  const fails = (name: string, script: Script, expected: Partial<ModelFailure>): void => {
    it(`${name} is ${expected.kind}`, async () => {
      const { model } = await open(script, expected.kind === "timeout" ? impatient : undefined);
      const failure = failureOf(await ask(model));
      assert.deepEqual({ ...failure, ...expected }, failure);
      assert.ok(failure.message.length > 10, failure.message);
      assert.equal(textOf(await ask((await open([say("usable")])).model)), "usable");
    });
  };
  fails("a request longer than the window", [fail(...subject.overflow)], { kind: "context" });
  fails("429 with Retry-After in seconds", [fail(429, undefined, { "retry-after": "7" })], {
    kind: "rate-limit",
    retryAfterMs: 7000,
    status: 429,
  });
  fails("429 without Retry-After", [fail(429)], { kind: "rate-limit", status: 429 });
  fails("500", [fail(500)], { kind: "overloaded", status: 500 });
  fails("503 in HTML", [fail(503, "<html>Service Unavailable</html>")], { kind: "overloaded", status: 503 });
  fails("402", [fail(402, { error: { message: "payment required" } })], { kind: "billing", status: 402 });
  fails("403", [fail(403, { error: { message: "not yours" } })], { kind: "auth", status: 403 });
  fails("404", [fail(404, { error: { message: "no such model" } })], { kind: "invalid", status: 404 });
  fails("a redirect", [fail(302, "", { location: "http://127.0.0.1:1/" })], { kind: "invalid", status: 302 });
  fails("garbage", [garbage()], { kind: "garbled" });
  fails("a connection dropped before the answer", [drop("before")], { kind: "network" });
  fails("a connection dropped in the answer", [drop("middle")], { kind: "network" });
  fails("a call cut in half", [halfCall("read", '{"path": "/et', "cut")], { kind: "network" });
  fails("silence before the status line", [hang("before")], { kind: "timeout" });
  fails("silence after it", [hang("after")], { kind: "timeout" });
  fails("an error event in the stream", [lateFail("", "Overloaded", "overloaded_error")], { kind: "overloaded" });

  it("reads Retry-After as a date", async () => {
    const { model } = await open([
      fail(429, undefined, { "retry-after": new Date(Date.now() + 20_000).toUTCString() }),
    ]);
    const { retryAfterMs = 0 } = failureOf(await ask(model));
    assert.ok(retryAfterMs > 15_000 && retryAfterMs <= 20_000, String(retryAfterMs));
  });

  it("one token a minute ends at the deadline", async () => {
    const { model, server } = await open([drip(60_000)], impatient);
    const events = await ask(model);
    assert.equal(failureOf(events).kind, "timeout");
    await server.requests[0]?.cut;
  });

  it("an incomplete call in a successful answer never becomes a complete one", async () => {
    const { model } = await open([halfCall("read", '{"path": "/et')]);
    const events = await ask(model);
    if (subject.halfCallEnds === "error") assert.match(failureOf(events).kind, /garbled|network/);
    else
      assert.deepEqual(
        callsOf(events).map(({ arguments: text }) => text),
        ['{"path": "/et'],
      );
  });

  it("20 MB of arguments are a failure, not a call", async () => {
    const { model } = await open([call("write", { path: "a", text: "x".repeat(20_000_000) })]);
    const events = await ask(model, {}, new AbortController().signal);
    assert.deepEqual([failureOf(events).kind, callsOf(events)], ["garbled", []]);
  });

  it("reports a wrong key without showing it", async () => {
    const secret = "sk-very-secret-0123456789abcdef";
    const server = await subject.start([say("no")], { key: "another" });
    const model = await subject.open(server.url, { secret });
    const failure = failureOf(await ask(model));
    assert.equal(failure.kind, "auth");
    assert.ok(!JSON.stringify(failure).includes(secret));
    const echo = await subject.start([fail(401, { error: { message: `bad key ${secret}` } })]);
    assert.ok(!JSON.stringify(failureOf(await ask(await subject.open(echo.url, { secret })))).includes(secret));
    await Promise.all([server.close(), echo.close()]);
  });

  it("an untrusted certificate is a network failure, and no request is sent", async () => {
    const server = await subject.start([say("no")], { tls: selfSigned });
    const failure = failureOf(await ask(await subject.open(server.url)));
    assert.equal(failure.kind, "network");
    assert.equal(server.requests.length, 0);
    await server.close();
  });

  it("a missing server is a network failure", async () => {
    const server = await subject.start([say("no")]);
    await server.close();
    assert.equal(failureOf(await ask(await subject.open(server.url))).kind, "network");
  });
}
