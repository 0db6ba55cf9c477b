// Longer conversations: results, images, broken histories, turns of other vendors.
import assert from "node:assert/strict";
import { it } from "node:test";

import { call, say, think } from "../../../test/fakes/reply.ts";
import type { AssistantMessage, Message, ToolResultMessage } from "../../core/message.ts";
import { ask, assistantFrom, callBlock, onePixel, resultOf, resultsFor, textOf, user } from "./ask.ts";
import type { OpenModelCase, WireSubject } from "./subject.ts";

export function conversations(subject: WireSubject, open: OpenModelCase): void {
  it("sends a tool's result back", async () => {
    const { model, server } = await open([call("read", { path: "a" }), say("It says hello.")]);
    const first = await ask(model);
    const history = [user("look"), assistantFrom(first, model), ...resultsFor(first, "hello")];
    const second = await ask(model, { messages: history });
    assert.equal(textOf(second), "It says hello.");
    assert.ok(JSON.stringify(server.requests[1]?.body).includes("hello"));
  });

  it("keeps reasoning through a tool round trip", async () => {
    const reply = call("read", { path: "a" });
    const { model } = await open([subject.thinks ? think("I should read it.", reply) : reply, say("Done.")]);
    const first = await ask(model, { thinking: "high", maxTokens: 30_000 });
    const history = [user("look"), assistantFrom(first, model), ...resultsFor(first, "x")];
    assert.equal(textOf(await ask(model, { messages: history, thinking: "high", maxTokens: 30_000 })), "Done.");
  });

  it("sends images of people and of tools", async () => {
    const picture = { type: "image", data: onePixel, mimeType: "image/png" } as const;
    const { model, server } = await open([call("camera", {}), say("A dot.")]);
    const asked: Message = { role: "user", content: [{ type: "text", text: "what is it" }, picture], timestamp: 0 };
    const first = await ask(model, { messages: [asked] });
    const [result] = resultsFor(first, "taken");
    assert.ok(result !== undefined);
    const shown: ToolResultMessage = { ...result, content: [...result.content, picture] };
    assert.equal(textOf(await ask(model, { messages: [asked, assistantFrom(first, model), shown] })), "A dot.");
    assert.equal(JSON.stringify(server.requests[1]?.body).split(onePixel).length - 1, 2);
  });

  it("repairs a broken history instead of being rejected", async () => {
    const { model } = await open([say("fine")]);
    const messages: Message[] = [
      { role: "assistant", content: [{ type: "text", text: "I began this." }], timestamp: 0 },
      {
        role: "toolResult",
        toolCallId: "gone",
        toolName: "read",
        content: [{ type: "text", text: "orphan" }],
        isError: false,
        timestamp: 0,
      },
      user("go \ud83d on"),
      {
        role: "assistant",
        content: [{ type: "text", text: "" }, callBlock("bad id!*/", "read"), callBlock("bad id!*/", "read")],
        timestamp: 0,
      },
      resultOf("bad id!*/", ""),
      { role: "assistant", content: [], timestamp: 0 },
      user(""),
      user("and again"),
    ];
    assert.equal(textOf(await ask(model, { messages })), "fine");
  });

  it("continues a conversation of another vendor", async () => {
    const { model } = await open([say("I go on.")]);
    const foreign = {
      dialect: "another",
      model: "other",
      parts: [{ type: "thinking", text: "secret", options: { other: { signature: "x" } } }],
    };
    const turn: AssistantMessage = {
      role: "assistant",
      content: [{ type: "text", text: "Reading." }, callBlock("toolu_01|fc:9", "read")],
      timestamp: 0,
      provider: "another",
      model: "other",
      replay: foreign,
    };
    const messages = [user("look"), turn, resultOf("toolu_01|fc:9", "hello")];
    assert.equal(textOf(await ask(model, { messages, thinking: "high", maxTokens: 30_000 })), "I go on.");
  });
}
