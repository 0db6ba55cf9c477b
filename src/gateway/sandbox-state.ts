// Ruling 9 for clients: is the default agent sandboxed, can its sandbox start, and if not, the command that mends it.
import type { AgentId } from "../core/names.ts";
import { defaultAgentId } from "../config/agents.ts";
import { modeOf, describeRoute } from "../exec/describe-route.ts";
import type { SandboxHealth } from "../protocol/methods/system.ts";
import type { GatewayContext } from "./context.ts";

type Surroundings = Pick<GatewayContext, "config" | "paths" | "env" | "clock">;

/** A trial starts a process or two: pages that come together share one. */
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
      text: `The sandbox is off for agent ${agentId}: its tools act on the gateway's machine itself${
        open ? ", and its commands run there without asking anybody" : ""
      }.`,
      fix: `openclaw config set ${setKey} all`,
    },
  };
}

/** Tries a sandbox where one is configured. */
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
    const text = `A sandbox is configured for agent ${state.agentId} but cannot start here: ${reason}. Until it can, what belongs in it is refused; nothing runs on the machine instead.`;
    return { ...state, works, caution: { text, fix: fix ?? "openclaw sandbox explain" } };
  };
  return () => {
    const isFresh = last !== undefined && last.of === config() && clock.ticks() - last.at < FRESH_MS;
    if (last === undefined || !isFresh) last = { at: clock.ticks(), of: config(), answer: look() };
    return last.answer;
  };
}
