// The sandbox state of the default agent for clients: its mode, whether it starts, and the fix (docs/decisions/0009-sandbox-on-by-default.md).
import type { AgentId } from "../core/names.ts";
import { defaultAgentId } from "../config/agents.ts";
import { modeOf, describeRoute } from "../exec/describe-route.ts";
import type { SandboxHealth } from "../protocol/methods/system.ts";
import type { GatewayContext } from "./context.ts";

type Surroundings = Pick<GatewayContext, "config" | "paths" | "env" | "clock">;

/** A trial starts processes, so clients that ask within this time share one. */
const FRESH_MS = 15_000;

export function sandboxNow({ config }: Pick<Surroundings, "config">): SandboxHealth & { readonly agentId: AgentId } {
  const now = config();
  const agentId = defaultAgentId(now);
  const { value: mode, setKey } = modeOf(now, agentId);
  if (mode !== "off") return { agentId, mode };
  const open = describeRoute(now, agentId, false).runs === "open";
  return {
    agentId,
    mode,
    caution: {
      text: `The sandbox is off for agent ${agentId}: its tools act directly on the gateway host${
        open ? ", and its commands run there without approval" : ""
      }.`,
      fix: `openclaw config set ${setKey} all`,
    },
  };
}

/** Starts a sandbox to test it, if one is configured. */
export function createSandboxTrial(surroundings: Surroundings): () => Promise<SandboxHealth> {
  const { config, paths, env, clock } = surroundings;
  let last: { readonly at: number; readonly of: unknown; readonly answer: Promise<SandboxHealth> } | undefined;
  const look = async (): Promise<SandboxHealth> => {
    const state = sandboxNow(surroundings);
    if (state.mode === "off") return state;
    const { sandboxProbe } = await import("../exec/sandbox/probe.ts");
    const {
      works,
      reason = "no backend works",
      fix,
    } = await sandboxProbe({ config: config(), env }, paths, [state.agentId]);
    if (works) return { ...state, works };
    const text = `A sandbox is configured for agent ${state.agentId} but cannot start here: ${reason}. Until it starts, sandboxed commands are denied; they do not run on the host instead.`;
    return { ...state, works, caution: { text, fix: fix ?? "openclaw sandbox explain" } };
  };
  return () => {
    const isFresh = last !== undefined && last.of === config() && clock.ticks() - last.at < FRESH_MS;
    if (last === undefined || !isFresh) last = { at: clock.ticks(), of: config(), answer: look() };
    return last.answer;
  };
}
