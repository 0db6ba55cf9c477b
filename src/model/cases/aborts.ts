// A caller that stops, at every stage.
import assert from "node:assert/strict";
import { it } from "node:test";

import { call, hang, say } from "../../../test/fakes/reply.ts";
import type { Script } from "../../../test/fakes/server.ts";
import type { ModelEvent } from "../model.ts";
import { ask, failureOf, kinds, request, stopOf } from "./ask.ts";
import type { OpenModelCase } from "./subject.ts";

export function aborts(open: OpenModelCase): void {
  const stages: readonly (readonly [string, Script, (event: ModelEvent) => boolean])[] = [
    ["before an answer", [hang("before")], () => false],
    ["after the status line", [hang("after")], () => false],
    ["in the middle of text", [say("x".repeat(400), { chunks: 400, delayMs: 5 })], ({ type }) => type === "text"],
    [
      "in the middle of a call",
      [{ ...call("read", { path: "y".repeat(50) }), delayMs: 40 }],
      ({ type }) => type === "tool-start",
    ],
  ];
  for (const [name, script, isMoment] of stages) {
    it(`an abort ${name} closes the socket and is the last event`, async () => {
      const { model, server } = await open(script);
      const controller = new AbortController();
      const events: ModelEvent[] = [];
      const timer = setTimeout(() => controller.abort(), 60);
      for await (const event of model.stream(request(), controller.signal)) {
        events.push(event);
        if (isMoment(event)) controller.abort();
      }
      clearTimeout(timer);
      assert.equal(failureOf(events).kind, "aborted");
      assert.equal(events.filter(({ type }) => type === "end" || type === "error").length, 1);
      await server.requests[0]?.cut;
    });
  }

  it("an abort before the start sends no request", async () => {
    const { model, server } = await open([say("no")]);
    assert.deepEqual(kinds(await ask(model, {}, AbortSignal.abort())), ["error:aborted"]);
    assert.equal(server.requests.length, 0);
  });

  it("a consumer that stops reading closes the socket", async () => {
    const { model, server } = await open([say("x".repeat(400), { chunks: 400, delayMs: 5 })]);
    for await (const event of model.stream(request(), new AbortController().signal)) if (event.type === "text") break;
    await server.requests[0]?.cut;
  });

  it("an abort after the end changes nothing", async () => {
    const { model } = await open([say("done")]);
    const controller = new AbortController();
    const events = await ask(model, {}, controller.signal);
    controller.abort();
    assert.equal(stopOf(events), "stop");
  });
}
