// After a kill during a turn the next process closes begun runs with their true outcome and runs waiting turns once.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { textOf } from "../core/message.ts";
import { openTestAgents, scriptedBook, text } from "../../test/harness/agent.ts";
import { INTERRUPTED } from "./recover.ts";
import { repairMessages } from "./valid-messages.ts";

const fixture = fileURLToPath(new URL("../../test/fixtures/agent-run.ts", import.meta.url));
const rounds = Number(process.env["OPENCLAW_CRASH_ROUNDS"] ?? 1);

/** Kills it as soon as all the words were said. */
async function killAfter(state: string, stage: string, words: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [fixture, state, stage], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
    if (words.every((word) => said.includes(word))) child.kill("SIGKILL");
  });
  await new Promise((resolve) => child.on("exit", resolve));
  for (const word of words) assert.ok(said.includes(word), `${stage}: ${said}`);
}

const stages = { silent: ["request 0"], stream: ["request 0"], tool: ["request 1"] };
for (const [stage, words] of Object.entries(stages)) {
  test(`killed at stage ${stage}`, async () => {
    for (let round = 0; round < rounds; round++) {
      const state = mkdtempSync(join(tmpdir(), "openclaw-crash-"));
      await killAfter(state, stage, [...words, "posted"]);
      const models = scriptedBook(() => text("here I am"));
      const opened = await openTestAgents({ models, state });
      const begun = await opened.agents.wait("begun", 60_000);
      const waiting = await opened.agents.wait("waiting", 60_000);
      const lines = (await opened.messages()).map(({ role, content }) => `${role}: ${textOf(content)}`);
      // Killed before its row was on disk, the first turn had not begun, and is run like the second.
      const isClosed = begun?.failure?.code === "run.interrupted";
      assert.ok(isClosed || begun?.text === "here I am", JSON.stringify(begun));
      assert.equal(lines.includes(`assistant: ${INTERRUPTED}`), isClosed);
      assert.deepEqual([waiting?.status, waiting?.text], ["ok", "here I am"]);
      const messages = await opened.messages();
      assert.deepEqual(repairMessages(messages), messages);
      assert.equal(lines.filter((line) => line === "user: second").length, 1);
      assert.equal(lines.filter((line) => line === "user: first").length, 1);
      if (stage === "tool") assert.ok(isClosed && existsSync(join(opened.workspace, "done.txt")));
      // Posting the same turn again finds its outcome and does nothing.
      const again = await opened.agents.post({
        runId: "begun",
        sessionKey: "agent:main:main" as never,
        text: "first",
        source: "agent",
        authorised: true,
      });
      assert.deepEqual([again.fresh, again.outcome], [false, begun]);
      await opened.close();
    }
  });
}
