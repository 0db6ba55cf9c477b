// Messages that the gateway posts for an agent: once, in order, without a model.
import assert from "node:assert/strict";
import { test } from "node:test";

import { textOf } from "../core/message.ts";
import { MAIN, openTestAgents, scriptedBook, text } from "../../test/harness/agent.ts";

test("posts an assistant message once without asking a model", async () => {
  const models = scriptedBook(() => text("hello"));
  const runtime = await openTestAgents({ models });
  await runtime.agents.say(MAIN, "the job is done", "said-1");
  await runtime.agents.say(MAIN, "the job is done", "said-1");
  assert.equal((await runtime.agents.wait("said-1", 60_000))?.text, "the job is done");
  const messages = (await runtime.messages()).map(({ role, content }) => [role, textOf(content)]);
  assert.deepEqual(messages, [["assistant", "the job is done"]]);
  const ends = runtime.events.flatMap(({ body }) =>
    body.stream === "lifecycle" && body.phase === "end" ? [body.outcome.text] : [],
  );
  assert.deepEqual(ends, ["the job is done"]);
  assert.equal(models.requests.length, 0);
  await runtime.close();
});

test("includes a posted message in the history of the next turn", async () => {
  const models = scriptedBook(() => text("I see"));
  const runtime = await openTestAgents({ models });
  await runtime.agents.say(MAIN, "backup finished");
  await runtime.ask("what happened?");
  assert.match(JSON.stringify(models.requests[0]?.messages), /backup finished/);
  await runtime.close();
});
