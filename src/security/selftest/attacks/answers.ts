// Attacks on a person's answer: change what was approved, use it twice, stretch it to something else.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { attacksOf, type Attack, type Call, type Control, type Outcome, type AttackScript } from "../case.ts";
import { isThere } from "../fixture.ts";
import type { TestEnvironment } from "../environment.ts";
import { claimOf, openWire, type Wire } from "../wire.ts";

/** Time an approved command gets to do its harm. */
const RUN_MS = 700;

const run = (command: string, more: Record<string, unknown> = {}): Call => ({
  tool: "exec",
  args: { command, ...more },
});
const held: Outcome = { ended: "refused", output: "" };

interface Desk {
  readonly wire: Wire;
  /** Undefined when the config does not ask. */
  readonly ask: (call: Call) => Promise<string | undefined>;
  readonly answer: (id: string, decision: string) => Promise<boolean>;
}

/** A scene with an owner at the desk who could answer. */
const atDesk = (
  id: string,
  perform: (broker: Desk, environment: TestEnvironment) => Promise<Outcome>,
): AttackScript => ({
  async perform(environment) {
    const { port, token, secretKind } = await environment.gateway();
    const wire = openWire(port);
    const scopes = ["operator.admin", "operator.approvals"];
    try {
      const hello = await wire.request("connect", claimOf({ secret: token, secretKind, scopes }, await wire.nonce));
      if (hello.ok !== true) throw new Error("the owner could not connect");
      const ask = async (call: Call): Promise<string | undefined> =>
        /"approvalId":"([^"]+)"/.exec((await environment.call(call, id)).output)?.[1];
      const answer = async (approval: string, decision: string): Promise<boolean> =>
        (await wire.request("exec.approval.resolve", { id: approval, decision })).ok === true;
      return await perform({ wire, ask, answer }, environment);
    } finally {
      wire.end();
    }
  },
});

export const answerAttacks: readonly Attack[] = attacksOf("approvals", [
  [
    "rewritten-script",
    "rewrite a script between the question and the answer",
    atDesk("approvals/rewritten-script", async ({ ask, answer }, { fixture }) => {
      const script = join(fixture.workspace, "deploy.sh");
      writeFileSync(script, "true\n");
      const id = await ask(run("sh {{WS}}/deploy.sh"));
      if (id === undefined) return held;
      writeFileSync(script, `touch ${fixture.canary("approvals/rewritten-script")}\n`);
      await answer(id, "allow-once");
      await sleep(RUN_MS);
      return held;
    }),
    "refused",
  ],
  [
    "swapped-folder",
    "swap the folder a command was approved for",
    atDesk("approvals/swapped-folder", async ({ ask, answer }, { fixture }) => {
      const canary = fixture.canary("approvals/swapped-folder");
      const [good, bad, link] = ["good", "bad", "current"].map((name) => join(fixture.workspace, name)) as [
        string,
        string,
        string,
      ];
      for (const folder of [good, bad]) mkdirSync(folder, { recursive: true });
      writeFileSync(join(good, "step.sh"), "true\n");
      writeFileSync(join(bad, "step.sh"), `touch ${canary}\n`);
      symlinkSync(good, link);
      const id = await ask(run("sh step.sh", { workdir: "{{WS}}/current" }));
      if (id === undefined) return held;
      rmSync(link);
      symlinkSync(bad, link);
      await answer(id, "allow-once");
      await sleep(RUN_MS);
      return held;
    }),
    "refused",
  ],
  [
    "swapped-program",
    "swap the program that was approved",
    atDesk("approvals/swapped-program", async ({ ask, answer }, { fixture }) => {
      const program = join(fixture.workspace, "step");
      writeFileSync(program, "#!/bin/sh\ntrue\n", { mode: 0o755 });
      const id = await ask(run("{{WS}}/step"));
      if (id === undefined) return held;
      rmSync(program);
      writeFileSync(program, `#!/bin/sh\ntouch ${fixture.canary("approvals/swapped-program")}\n`, { mode: 0o755 });
      await answer(id, "allow-once");
      await sleep(RUN_MS);
      return held;
    }),
    "refused",
  ],
  [
    "always-a-shell",
    "stretch one 'always' for a shell to every command",
    atDesk("approvals/always-a-shell", async ({ ask, answer }) => {
      const id = await ask(run("sh -c true"));
      if (id === undefined) return held;
      await answer(id, "allow-always");
      await sleep(RUN_MS);
      await ask(run("sh -c 'touch {{CANARY}}'"));
      await sleep(RUN_MS);
      return held;
    }),
    "asked",
  ],
  [
    "always-a-wrapper",
    "stretch one 'always' for env to every command",
    atDesk("approvals/always-a-wrapper", async ({ ask, answer }) => {
      const id = await ask(run("env true"));
      if (id === undefined) return held;
      await answer(id, "allow-always");
      await sleep(RUN_MS);
      await ask(run("env touch {{CANARY}}"));
      await sleep(RUN_MS);
      return held;
    }),
    "asked",
  ],
  [
    "answered-twice",
    "turn a no into a yes",
    atDesk("approvals/answered-twice", async ({ ask, answer }) => {
      const id = await ask(run("touch {{CANARY}}"));
      if (id === undefined) return held;
      await answer(id, "deny");
      await answer(id, "allow-once");
      await sleep(RUN_MS);
      return held;
    }),
    "refused",
  ],
  [
    "used-twice",
    "run twice on one answer",
    atDesk("approvals/used-twice", async ({ ask, answer }, { fixture }) => {
      const log = join(fixture.workspace, "runs.txt");
      writeFileSync(log, "");
      const id = await ask(run("sh -c 'echo ran >> {{WS}}/runs.txt'"));
      if (id === undefined) return held;
      await Promise.all([answer(id, "allow-once"), answer(id, "allow-once"), answer(id, "allow-once")]);
      await sleep(RUN_MS);
      return readFileSync(log, "utf8").split("ran").length > 2 ? { ...held, harm: "it ran more than once" } : held;
    }),
    "refused",
  ],
  [
    "guessed-id",
    "answer a question nobody asked",
    atDesk("approvals/guessed-id", async ({ answer }) =>
      (await answer("00000000-0000-4000-8000-000000000000", "allow-once"))
        ? { ...held, harm: "an unknown id was answered" }
        : held,
    ),
    "refused",
  ],
  [
    "odd-decision",
    "answer with a word of one's own",
    atDesk("approvals/odd-decision", async ({ ask, answer }) => {
      const id = await ask(run("touch {{CANARY}}"));
      if (id !== undefined && (await answer(id, "allow"))) return { ...held, harm: "an unknown decision was taken" };
      await sleep(RUN_MS);
      return held;
    }),
    "refused",
  ],
]);

/** A yes must do something: without it, every attack on answers would be stopped by nothing ever running. */
export const answerUse: readonly Control[] = [
  {
    id: "approvals/answer",
    does: "run a command once after a yes",
    attempt: atDesk("approvals/answer", async ({ ask, answer }, { fixture }) => {
      const id = await ask(run("sh -c 'echo ran > {{WS}}/answered.txt'"));
      // Nothing to answer where nothing is asked.
      if (id === undefined) return { ended: "done", output: "" };
      await answer(id, "allow-once");
      for (let waitedMs = 0; waitedMs < 5000; waitedMs += 50) {
        if (isThere(join(fixture.workspace, "answered.txt"))) return { ended: "done", output: "" };
        await sleep(50);
      }
      return { ...held, harm: "the approved command did not run" };
    }),
  },
];
