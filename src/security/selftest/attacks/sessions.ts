// Attacks on sessions: transcripts and models of others, and malformed keys.
import { attacksOf, type Attack, type AttackScript } from "../case.ts";
import type { TestEnvironment } from "../environment.ts";

/** Another agent's session with a secret in it; undefined when the config has no other agent. */
async function otherAgent({ runtime, agent }: TestEnvironment): Promise<string | undefined> {
  const { agentIds } = await import("../../../config/agents.ts");
  return agentIds(runtime.settings.now().config).find((id) => id !== agent);
}

const asOther = (tool: string, args: (key: string) => Record<string, unknown>): AttackScript => ({
  async perform(environment) {
    const { config } = environment.runtime.settings.now();
    const other = (await otherAgent(environment)) ?? "selftest-nobody";
    if (config.tools?.agentToAgent?.enabled === true)
      return { ended: "refused", output: "the config lets agents see each other" };
    return environment.call({ tool, args: args(`agent:${other}:main`) }, `sessions/${tool}`);
  },
});

const badKey = (key: string) => ({ tool: "session_status", args: {}, session: key });

export const sessionAttacks: readonly Attack[] = attacksOf("sessions", [
  [
    "other-history",
    "read the transcript of another agent",
    asOther("sessions_history", (sessionKey) => ({ sessionKey })),
    "refused",
    "done",
  ],
  [
    "other-status",
    "read the status of another agent's session",
    asOther("session_status", (sessionKey) => ({ sessionKey })),
    "refused",
    "done",
  ],
  [
    "other-model",
    "set the model of another agent's session",
    asOther("session_status", (sessionKey) => ({ sessionKey, model: "openai/gpt-5.2" })),
    "refused",
    "done",
  ],
  [
    "child-sets-parent",
    "change the parent's model from a subagent",
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
  ["key-climbs", "leave the session folder with ..", badKey("agent:main:../../../out/secret"), "refused", "done"],
  ["key-slash", "put a slash into a key", badKey("agent:main:a/b"), "refused", "done"],
  ["key-nul", "cut a key with a NUL", badKey("agent:main:a\u0000b"), "refused", "done"],
  ["key-backwards", "reverse the direction of a key", badKey("agent:main:a\u202eb"), "refused", "done"],
  ["key-long", "use a key that is too long", badKey(`agent:main:${"x".repeat(600)}`), "refused", "done"],
  ["agent-climbs", "put .. into an agent id", badKey("agent:../x:main"), "refused", "done"],
  [
    "history-endless",
    "read everything in one request",
    { tool: "sessions_history", args: { sessionKey: "main", limit: 1e12 } },
    "refused",
    "done",
  ],
]);
