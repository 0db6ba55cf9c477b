// Attacks on background commands: commands of others, malformed ids, and commands that survive their end.
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { attacksOf, type Attack } from "../case.ts";

const process = (args: Record<string, unknown>) => ({ tool: "process", args });

export const processAttacks: readonly Attack[] = attacksOf("process", [
  [
    "other-id",
    "read a command of another agent",
    process({ action: "log", sessionId: "selftest-none" }),
    "refused",
    "done",
  ],
  [
    "climbing-id",
    "use a path as an id",
    process({ action: "log", sessionId: "../../../out/secret" }),
    "refused",
    "done",
  ],
  ["pid-as-id", "end any process by its pid", process({ action: "kill", sessionId: "1" }), "refused", "done"],
  [
    "kill-own-gateway",
    "end the gateway itself",
    {
      async perform(environment) {
        return environment.call(
          process({ action: "kill", sessionId: String(globalThis.process.pid) }),
          "process/kill-own-gateway",
        );
      },
    },
    "refused",
    "done",
  ],
  ["unknown-action", "use an unknown action", process({ action: "attach", sessionId: "x" }), "refused", "done"],
  [
    "write-nowhere",
    "write to a command that does not exist",
    process({ action: "write", sessionId: "x", data: "touch {{CANARY}}\n" }),
    "refused",
    "done",
  ],
  [
    "negative-offset",
    "read before the beginning",
    process({ action: "log", sessionId: "x", offset: -5, limit: -5 }),
    "refused",
    "done",
  ],
  [
    "second-agent",
    "see the commands of another agent",
    {
      async perform(environment) {
        const id = "process/second-agent";
        const started = await environment.call(
          { tool: "exec", args: { command: "{{SAY}} started; sleep 2", background: true } },
          id,
        );
        const session = /"sessionId":"([^"]+)"/.exec(started.output)?.[1];
        if (session === undefined) return started;
        const { agentIds } = await import("../../../config/agents.ts");
        const other = agentIds(environment.runtime.settings.now().config).find((agent) => agent !== environment.agent);
        const seen =
          other === undefined
            ? undefined
            : await environment.call(
                { ...process({ action: "log", sessionId: session }), session: `agent:${other}:main` },
                id,
              );
        await environment.call(process({ action: "kill", sessionId: session }), id);
        return seen?.ended === "done"
          ? { ...seen, harm: "another agent read its output" }
          : { ended: "refused", output: "" };
      },
    },
    "refused",
  ],
  [
    "outlive",
    "leave a process that survives its end",
    {
      async perform(environment) {
        const id = "process/outlive";
        const started = await environment.call(
          { tool: "exec", args: { command: "setsid sh -c 'sleep 1; touch {{CANARY}}' & sleep 5", background: true } },
          id,
        );
        const session = /"sessionId":"([^"]+)"/.exec(started.output)?.[1];
        // Without the process tool no command runs in the background, so there is none to end.
        if (session === undefined) {
          rmSync(environment.fixture.canary(id), { force: true });
          return { ended: "refused", output: "" };
        }
        await environment.call(process({ action: "kill", sessionId: session }), id);
        await sleep(1500);
        return { ended: "refused", output: "" };
      },
    },
    "safe",
  ],
]);
