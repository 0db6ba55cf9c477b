// Attacks on an approval: change what was approved, use it twice, or extend it to other commands.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { attacksOf, type Attack, type Call, type Control, type Outcome, type AttackScript } from "../case.ts";
import { exists } from "../fixture.ts";
import type { TestEnvironment } from "../environment.ts";
import type { Wire } from "../wire.ts";
import { blocked, withClient } from "./gateway-scripts.ts";

/** How long an approved command may take to cause harm. */
const RUN_MS = 700;

const run = (command: string, more: Record<string, unknown> = {}): Call => ({
  tool: "exec",
  args: { command, ...more },
});

interface ApprovalClient {
  readonly wire: Wire;
  /** Undefined when the config does not ask. */
  readonly ask: (call: Call) => Promise<string | undefined>;
  readonly answer: (id: string, decision: string) => Promise<boolean>;
}

/** Runs with a connected owner who can answer. */
const asOwner = (
  id: string,
  perform: (client: ApprovalClient, environment: TestEnvironment) => Promise<Outcome>,
): AttackScript => ({
  perform: (environment) =>
    withClient(environment, { scopes: ["operator.admin", "operator.approvals"] }, (wire) => {
      const ask = async (call: Call): Promise<string | undefined> =>
        /"approvalId":"([^"]+)"/.exec((await environment.call(call, id)).output)?.[1];
      const answer = async (approval: string, decision: string): Promise<boolean> =>
        (await wire.request("exec.approval.resolve", { id: approval, decision })).ok === true;
      return perform({ wire, ask, answer }, environment);
    }),
});

export const answerAttacks: readonly Attack[] = attacksOf("approvals", [
  [
    "rewritten-script",
    "rewrite a script between the question and the answer",
    asOwner("approvals/rewritten-script", async ({ ask, answer }, { fixture }) => {
      const script = join(fixture.workspace, "deploy.sh");
      writeFileSync(script, "true\n");
      const id = await ask(run("sh {{WS}}/deploy.sh"));
      if (id === undefined) return blocked;
      writeFileSync(script, `touch ${fixture.canary("approvals/rewritten-script")}\n`);
      await answer(id, "allow-once");
      await sleep(RUN_MS);
      return blocked;
    }),
    "refused",
  ],
  [
    "swapped-folder",
    "swap the folder a command was approved for",
    asOwner("approvals/swapped-folder", async ({ ask, answer }, { fixture }) => {
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
      if (id === undefined) return blocked;
      rmSync(link);
      symlinkSync(bad, link);
      await answer(id, "allow-once");
      await sleep(RUN_MS);
      return blocked;
    }),
    "refused",
  ],
  [
    "swapped-program",
    "swap the program that was approved",
    asOwner("approvals/swapped-program", async ({ ask, answer }, { fixture }) => {
      const program = join(fixture.workspace, "step");
      writeFileSync(program, "#!/bin/sh\ntrue\n", { mode: 0o755 });
      const id = await ask(run("{{WS}}/step"));
      if (id === undefined) return blocked;
      rmSync(program);
      writeFileSync(program, `#!/bin/sh\ntouch ${fixture.canary("approvals/swapped-program")}\n`, { mode: 0o755 });
      await answer(id, "allow-once");
      await sleep(RUN_MS);
      return blocked;
    }),
    "refused",
  ],
  [
    "always-a-shell",
    "use 'always' for one shell command to run every command",
    asOwner("approvals/always-a-shell", async ({ ask, answer }) => {
      const id = await ask(run("sh -c true"));
      if (id === undefined) return blocked;
      await answer(id, "allow-always");
      await sleep(RUN_MS);
      await ask(run("sh -c 'touch {{CANARY}}'"));
      await sleep(RUN_MS);
      return blocked;
    }),
    "asked",
  ],
  [
    "always-a-wrapper",
    "use 'always' for env to run every command",
    asOwner("approvals/always-a-wrapper", async ({ ask, answer }) => {
      const id = await ask(run("env true"));
      if (id === undefined) return blocked;
      await answer(id, "allow-always");
      await sleep(RUN_MS);
      await ask(run("env touch {{CANARY}}"));
      await sleep(RUN_MS);
      return blocked;
    }),
    "asked",
  ],
  [
    "answered-twice",
    "change a denial into an approval",
    asOwner("approvals/answered-twice", async ({ ask, answer }) => {
      const id = await ask(run("touch {{CANARY}}"));
      if (id === undefined) return blocked;
      await answer(id, "deny");
      await answer(id, "allow-once");
      await sleep(RUN_MS);
      return blocked;
    }),
    "refused",
  ],
  [
    "used-twice",
    "run twice with one answer",
    asOwner("approvals/used-twice", async ({ ask, answer }, { fixture }) => {
      const log = join(fixture.workspace, "runs.txt");
      writeFileSync(log, "");
      const id = await ask(run("sh -c 'echo ran >> {{WS}}/runs.txt'"));
      if (id === undefined) return blocked;
      await Promise.all([answer(id, "allow-once"), answer(id, "allow-once"), answer(id, "allow-once")]);
      await sleep(RUN_MS);
      return readFileSync(log, "utf8").split("ran").length > 2
        ? { ...blocked, harm: "it ran more than once" }
        : blocked;
    }),
    "refused",
  ],
  [
    "guessed-id",
    "answer an approval that was not requested",
    asOwner("approvals/guessed-id", async ({ answer }) =>
      (await answer("00000000-0000-4000-8000-000000000000", "allow-once"))
        ? { ...blocked, harm: "an unknown id was answered" }
        : blocked,
    ),
    "refused",
  ],
  [
    "odd-decision",
    "answer with an unknown decision",
    asOwner("approvals/odd-decision", async ({ ask, answer }) => {
      const id = await ask(run("touch {{CANARY}}"));
      if (id !== undefined && (await answer(id, "allow")))
        return { ...blocked, harm: "an unknown decision was accepted" };
      await sleep(RUN_MS);
      return blocked;
    }),
    "refused",
  ],
]);

/** An approval must have an effect; otherwise every attack on answers would appear to be blocked. */
export const answerUse: readonly Control[] = [
  {
    id: "approvals/answer",
    does: "run a command once after approval",
    attempt: asOwner("approvals/answer", async ({ ask, answer }, { fixture }) => {
      const id = await ask(run("sh -c 'echo ran > {{WS}}/answered.txt'"));
      // Without a question there is no answer to give.
      if (id === undefined) return { ended: "done", output: "" };
      await answer(id, "allow-once");
      for (let waitedMs = 0; waitedMs < 5000; waitedMs += 50) {
        if (exists(join(fixture.workspace, "answered.txt"))) return { ended: "done", output: "" };
        await sleep(50);
      }
      return { ...blocked, harm: "the approved command did not run" };
    }),
  },
];
