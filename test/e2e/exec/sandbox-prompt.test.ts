// The prompt of a sandboxed session contains no host path that its sandbox hides.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { until } from "../../harness/exec.ts";
import { call, say, startFakeOpenAI, type Reply } from "../../fakes/openai.ts";
import { dispose, operator } from "../../harness/gateway.ts";
import { chat, messagesOf, startWithModel } from "../../harness/model.ts";
import { noBubblewrap } from "../../harness/sandbox.ts";

/** Calls that work, and calls that fail in ways that name a place. */
const calls: readonly [tool: string, args: Record<string, unknown>][] = [
  ["read", { path: "nosuch.txt" }],
  ["read", { path: "notes.md" }],
  ["read", { path: "/etc/shadow" }],
  ["read", { path: "../../openclaw.json" }],
  ["read", { path: "." }],
  ["read", { path: "/workspace/made.txt" }],
  ["write", { path: "made.txt", content: "one\n" }],
  ["write", { path: "/workspace/sub/made.txt", content: "one\n" }],
  ["write", { path: "/nowhere/else.txt", content: "one\n" }],
  ["edit", { path: "made.txt", oldText: "absent", newText: "x" }],
  ["edit", { path: "made.txt", oldText: "one", newText: "two" }],
  ["apply_patch", { input: "*** Begin Patch\n*** Update File: nosuch.txt\n@@\n-a\n+b\n*** End Patch" }],
  ["apply_patch", { input: "*** Begin Patch\n*** Add File: added.txt\n+b\n*** End Patch" }],
  ["exec", { command: "pwd; env; cat /proc/self/mountinfo | cut -d' ' -f5; false" }],
  ["exec", { command: "nosuchprogram" }],
  ["exec", { command: "true", workdir: "nosuch" }],
  ["exec", { command: "true", workdir: "/nowhere" }],
  ["exec", { command: "true", host: "gateway" }],
  ["exec", { command: "true", elevated: true }],
  ["exec", { command: "sleep 5", background: true }],
  ["process", { action: "list" }],
  ["process", { action: "log", sessionId: "nosuch" }],
  ["session_status", {}],
  ["agents_list", {}],
  ["sessions_list", {}],
  ["sessions_history", { sessionKey: "main" }],
  ["memory_search", { query: "milk" }],
  ["memory_get", { path: "MEMORY.md" }],
  ["memory_get", { path: "../../openclaw.json" }],
  ["image", { image: "nosuch.png" }],
  ["cron", { action: "list" }],
  ["cron", { action: "status" }],
  ["gateway", { action: "config.get" }],
];

describe("the model of a sandboxed session", { skip: noBubblewrap }, () => {
  for (const workspaceAccess of ["none", "ro", "rw"])
    test(`reads no hidden path of the host with workspaceAccess ${workspaceAccess}`, async (t) => {
      let next = 0;
      const server = await startFakeOpenAI((): Reply => {
        const step = calls[next++];
        return step === undefined ? say("done") : call(...step);
      });
      const gateway = await startWithModel(server, {
        more: {
          agents: {
            defaults: {
              model: { primary: "fake/fake-1" },
              sandbox: { mode: "all", backend: "bubblewrap", workspaceAccess },
            },
          },
          tools: { sandbox: { tools: { allow: ["*"] } } },
        },
      });
      mkdirSync(gateway.workspace, { recursive: true });
      writeFileSync(join(gateway.workspace, "notes.md"), "plain notes\n");
      writeFileSync(join(gateway.workspace, "MEMORY.md"), "remember the milk\n");
      const wire = await operator(gateway);
      t.after(async () => {
        wire.end();
        await dispose(gateway);
        await server.close();
      });
      await chat(wire, "agent:main:main", "work", "all-calls");
      await until(
        () => next,
        (done) => done > calls.length,
      );
      const requests = server.requests.filter(({ path }) => path.endsWith("/chat/completions"));
      assert.match(JSON.stringify(requests[0]?.body), /\/workspace/, "it is told where it works");
      const told = messagesOf(requests.at(-1) as (typeof requests)[number]);
      const leaks = told
        .map((message) => JSON.stringify(message))
        .filter((text) => text.includes(gateway.home) || text.includes(".openclaw"));
      assert.deepEqual(leaks, []);
      for (const { body } of requests) assert.equal(JSON.stringify(body).includes(gateway.home), false);
    });
});
