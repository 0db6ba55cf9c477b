// Attacks on sessions: what others said, whose model answers, and keys that are no keys.
import { attacksOf, type Attack, type AttackScript } from "../case.ts";
import type { TestEnvironment } from "../environment.ts";

/** Another agent's session with a secret in it; only where the config has another agent. */
async function otherAgent({ runtime, agent }: TestEnvironment): Promise<string | undefined> {
  const { agentIds } = await import("../../../config/agents.ts");
  return agentIds(runtime.settings.now().config).find((id) => id !== agent);
}

const asOther = (tool: string, args: (key: string) => Record<string, unknown>): AttackScript => ({
  async perform(environment) {
    const { config } = environment.runtime.settings.now();
    const other = (await otherAgent(environment)) ?? "selftest-nobody";
    if (config.tools?.agentToAgent?.enabled === true)
      return { ended: "refused", output: "agents may see each other by choice" };
    return environment.call({ tool, args: args(`agent:${other}:main`) }, `sessions/${tool}`);
  },
});

const badKey = (key: string) => ({ tool: "session_status", args: {}, session: key });

export const sessionAttacks: readonly Attack[] = attacksOf("sessions", [
  [
    "other-history",
    "read what another agent was told",
    asOther("sessions_history", (sessionKey) => ({ sessionKey })),
    "refused",
    "done",
  ],
  [
    "other-status",
    "look at another agent's session",
    asOther("session_status", (sessionKey) => ({ sessionKey })),
    "refused",
    "done",
  ],
  [
    "other-model",
    "choose the model of another agent's session",
    asOther("session_status", (sessionKey) => ({ sessionKey, model: "openai/gpt-5.2" })),
    "refused",
    "done",
  ],
  [
    "child-sets-parent",
    "let a sub-agent change its parent's model",
    {
      async perform({ call, agent }) {
        return call(
          {
            tool: "session_status",
            args: { sessionKey: `agent:${agent}:main`, model: "openai/gpt-5.2" },
            session: `agent:${agent}:subagent:selftest`,
          },
          "sessions/child",
        );
      },
    },
    "refused",
    "done",
  ],
  [
    "missing-history",
    "learn whether a session exists",
    { tool: "sessions_history", args: { sessionKey: "agent:main:selftest-none" } },
    "refused",
    "done",
  ],
  ["key-climbs", "climb out of the session folder", badKey("agent:main:../../../out/secret"), "refused", "done"],
  ["key-slash", "put a slash into a key", badKey("agent:main:a/b"), "refused", "done"],
  ["key-nul", "cut a key short", badKey("agent:main:a\u0000b"), "refused", "done"],
  ["key-backwards", "make a key read backwards", badKey("agent:main:a\u202eb"), "refused", "done"],
  ["key-long", "make a key longer than a name can be", badKey(`agent:main:${"x".repeat(600)}`), "refused", "done"],
  ["agent-climbs", "climb through an agent's id", badKey("agent:../x:main"), "refused", "done"],
  [
    "history-endless",
    "read all there is at once",
    { tool: "sessions_history", args: { sessionKey: "main", limit: 1e12 } },
    "refused",
    "done",
  ],
]);
