// Input to background commands that have no terminal, on the host and in the sandbox.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { exec, proc, until } from "../../harness/exec.ts";
import { dispose, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { noBubblewrap } from "../../harness/sandbox.ts";

for (const place of [
  { name: "on the host", config: {}, skip: false as const },
  {
    name: "in the sandbox",
    config: { agents: { defaults: { sandbox: { mode: "all", backend: "bubblewrap" } } } },
    skip: noBubblewrap,
  },
]) {
  describe(`input without a terminal, ${place.name}`, { skip: place.skip }, () => {
    let gateway: TestGateway;
    before(async () => {
      gateway = await startGateway({ config: place.config });
      mkdirSync(gateway.workspace, { recursive: true });
    });
    after(() => dispose(gateway));

    const start = async (command: string, input = ""): Promise<string> => {
      const { details, text } = await exec(gateway, { command, background: true });
      assert.equal(details["status"], "running", text);
      const sessionId = String(details["sessionId"]);
      if (input !== "") await proc(gateway, { action: "write", sessionId, data: input });
      await until(
        () => proc(gateway, { action: "log", sessionId }),
        ({ text: log }) => log.includes("ready"),
      );
      return sessionId;
    };
    const ended = async (sessionId: string): Promise<{ log: string; exitCode: unknown }> => {
      const { details } = await until(
        () => proc(gateway, { action: "poll", sessionId }),
        (polled) => polled.details["status"] !== "running",
      );
      const { text } = await proc(gateway, { action: "log", sessionId });
      return { log: text, exitCode: details["exitCode"] };
    };

    test("submit ends the line, so a program that reads lines gets it", async () => {
      const id = await start("echo ready; read line; echo got:$line.");
      assert.equal((await proc(gateway, { action: "submit", sessionId: id, data: "hello" })).text, "Submitted.");
      assert.match((await ended(id)).log, /got:hello\.$/);
    });

    test("send-keys types literal text before Enter", async () => {
      const id = await start("echo ready; read line; echo got:$line.");
      await proc(gateway, { action: "send-keys", sessionId: id, literal: "hello", keys: ["Enter"] });
      assert.match((await ended(id)).log, /got:hello\.$/);
    });

    test("C-c interrupts the command, which may handle it", async () => {
      const id = await start("trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.05; done");
      const { text } = await proc(gateway, { action: "send-keys", sessionId: id, keys: ["C-c"] });
      assert.match(text, /has no terminal: sent it SIGINT/);
      const { log, exitCode } = await ended(id);
      assert.match(log, /caught/);
      assert.equal(exitCode, 7);
    });

    test("C-c stops a command that does not handle it, with everything it started", async () => {
      // A shell that is starting programs can lose SIGINT, so the line must have passed through both.
      const id = await start("cat | cat", "ready\n");
      await proc(gateway, { action: "send-keys", sessionId: id, keys: ["C-c"] });
      await ended(id);
    });

    test("C-d closes the input", async () => {
      const id = await start("echo ready; cat; echo over");
      await proc(gateway, { action: "send-keys", sessionId: id, literal: "x", keys: ["Enter", "C-d"] });
      assert.match((await ended(id)).log, /x\nover/);
    });

    test("refuses keys that only a terminal understands and says what to do", async () => {
      const id = await start("echo ready; cat");
      const { error } = await proc(gateway, { action: "send-keys", sessionId: id, literal: "x", keys: ["Up"] });
      assert.equal(error?.type, "process.no-terminal");
      await proc(gateway, { action: "remove", sessionId: id });
    });

    test("a command in the foreground reads an empty input, so it does not wait for one", async () => {
      await exec(gateway, { command: "echo a needle > note.txt" });
      const found = await exec(gateway, {
        command: "cat; test -p /dev/stdin || echo no pipe; test -t 0 || echo no terminal",
      });
      assert.equal(found.text, "no pipe\nno terminal\n");
      const searched = await exec(gateway, { command: "rg needle || grep -r needle" });
      assert.match(searched.text, /note\.txt:.*a needle/);
    });

    test("paste arrives as plain text", async () => {
      const id = await start("echo ready; cat | od -An -c; true");
      await proc(gateway, { action: "paste", sessionId: id, text: "ab" });
      await proc(gateway, { action: "write", sessionId: id, eof: true });
      assert.match((await ended(id)).log, /^ +a +b$/m);
    });
  });
}
