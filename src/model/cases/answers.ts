// Successful answers: text, calls, reasoning, and stop reasons.
import assert from "node:assert/strict";
import { it } from "node:test";

import { calls, empty, refuse, say, think } from "../../../test/fakes/reply.ts";
import { ask, callsOf, kinds, lastOf, startsOf, stopOf, textOf } from "./ask.ts";
import type { OpenModelCase, WireSubject } from "./subject.ts";

export function answers(subject: WireSubject, open: OpenModelCase): void {
  it("streams text whose characters were split on the way", async () => {
    const text = "Grüße 😀👩‍👩‍👧 漢字 \u{1F1E7}\u{1F1F7} — done";
    const { model, server } = await open([say(text, { chunks: text.length, shredBytes: 5 })]);
    const events = await ask(model);
    assert.equal(textOf(events), text);
    for (const event of events)
      if (event.type === "text") assert.ok(event.delta.isWellFormed(), "half a character was given out");
    assert.deepEqual(lastOf(events), { ...lastOf(events), type: "end", stop: "stop" });
    assert.equal(server.requests.length, 1);
  });

  it("counts tokens, and cached ones separately", async () => {
    const { model } = await open([say("one two three four")]);
    await ask(model);
    const end = lastOf(await ask(model));
    assert.ok(end?.type === "end");
    const { input, output, cacheRead, cacheWrite, totalTokens } = end.usage;
    assert.ok(output >= 4 && cacheRead > 0, JSON.stringify(end.usage));
    assert.equal(totalTokens, input + output + cacheRead + cacheWrite);
  });

  it("reports an empty answer", async () => {
    const { model } = await open([empty()]);
    assert.deepEqual(kinds(await ask(model)), ["error:empty"]);
  });

  it("ends with refusal when the model refuses", async () => {
    const { model } = await open([refuse("I will not do that.")]);
    const events = await ask(model);
    assert.equal(stopOf(events), "refusal");
    assert.equal(textOf(events), "I will not do that.");
  });

  it("ends with length when the token limit is reached", async () => {
    const { model } = await open([say("and then", { finish: "length" })]);
    assert.equal(stopOf(await ask(model)), "length");
  });

  it("returns calls in order, after their starts, with unchanged arguments", async () => {
    const { model } = await open([
      calls(
        [
          { name: "read", args: { path: "a" }, id: "one" },
          { name: "write", args: { path: "b", text: "ü😀" }, id: "two" },
        ],
        { before: "Both." },
      ),
    ]);
    const events = await ask(model);
    assert.equal(textOf(events), "Both.");
    assert.deepEqual(
      callsOf(events).map(({ name, arguments: text }) => [name, JSON.parse(text)]),
      [
        ["read", { path: "a" }],
        ["write", { path: "b", text: "ü😀" }],
      ],
    );
    assert.deepEqual(
      startsOf(events),
      callsOf(events).map(({ id }) => id),
    );
    assert.equal(stopOf(events), "tool-calls");
  });

  it("makes repeated call ids unique", async () => {
    const { model } = await open([
      calls([
        { name: "read", args: { path: "a" }, id: "same" },
        { name: "read", args: { path: "b" }, id: "same" },
      ]),
    ]);
    const events = await ask(model);
    const ids = callsOf(events).map(({ id }) => id);
    assert.equal(new Set(ids).size, 2);
    assert.deepEqual(startsOf(events), ids);
  });

  it(
    "streams reasoning and keeps what the vendor expects back",
    { skip: subject.thinks ? false : "its protocol streams no thinking" },
    async () => {
      const { model } = await open([think("Let me see.", say("Yes."))]);
      const events = await ask(model, { thinking: "medium" });
      const thought = events.flatMap((event) => (event.type === "thinking" ? [event.delta] : [])).join("");
      assert.equal(thought, "Let me see.");
      assert.equal(textOf(events), "Yes.");
      const end = lastOf(events);
      assert.ok(end?.type === "end" && end.replay !== undefined);
    },
  );
}
