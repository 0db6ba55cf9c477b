// Settings of a request reach the vendor in its own format, or the caller learns that the model does not support them.
import assert from "node:assert/strict";
import { it } from "node:test";

import { say } from "../../../test/fakes/reply.ts";
import type { AnswerSettings, ToolChoice } from "../model.ts";
import { ask, lastOf } from "./ask.ts";
import type { OpenModelCase, WireSubject } from "./subject.ts";

const choices: readonly ToolChoice[] = ["auto", "none", "required", { tool: "camera" }];

export function settings(subject: WireSubject, open: OpenModelCase): void {
  for (const [index, toolChoice] of choices.entries())
    it(`sends tool choice ${JSON.stringify(toolChoice)}`, async () => {
      const { model, server } = await open([say("fine")]);
      await ask(model, { settings: { toolChoice }, thinking: "high" });
      assert.deepEqual(subject.choiceOf(server.requests[0]?.body ?? {}), subject.choices[index]);
    });

  it("never exceeds the caller's token limit, with or without reasoning", async () => {
    for (const thinking of ["off", "high"] as const) {
      const { model, server } = await open([say("fine")]);
      await ask(model, { maxTokens: 123, thinking, settings: { maxOutputTokens: 123 } });
      const found = JSON.stringify(server.requests[0]?.body).match(/"max_?\w*_?tokens":(\d+)/gi);
      assert.match(String(found), /^"max\w+":123$/);
    }
  });

  const sampling: readonly AnswerSettings[] = [
    { temperature: 0.25 },
    { topP: 0.25 },
    { stopSequences: ["0.25"] },
    { presencePenalty: 0.25 },
    { frequencyPenalty: 0.25 },
    { json: { name: "answer", schema: { type: "object", properties: { q0_25: { type: "string" } } } } },
  ];
  for (const setting of sampling)
    it(`sends ${Object.keys(setting).join()} or fails as unsupported`, async () => {
      const { model, server } = await open([say("fine")]);
      const end = lastOf(await ask(model, { settings: setting }));
      const isSent = /0[._]25/.test(JSON.stringify(server.requests[0]?.body));
      const isRefused = end?.type === "error" && end.error.kind === "unsupported";
      assert.notEqual(isSent, isRefused, JSON.stringify(end));
    });
}
