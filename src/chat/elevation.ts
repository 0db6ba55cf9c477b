// Who may leave the sandbox: every gate that is closed for this session, by its key.
import { groupOfKey } from "../core/names.ts";
import { agentConfig } from "../config/agents.ts";
import { isRecord } from "../config/path.ts";
import type { Scene } from "./scene.ts";

export interface Gate {
  readonly key: string;
  readonly why: string;
}

/** Empty when elevated may be used. Unknown senders are nobody. */
export async function closedGates(scene: Scene): Promise<readonly Gate[]> {
  const { config, context } = scene;
  const subject = await scene.subject();
  const own = agentConfig(config, context.agentId)?.tools?.elevated;
  const channel = await channelOf(scene);
  const names = await sendersOf(scene);
  const shared = config.tools?.elevated;
  const exec = scene.deps.catalog.judge(subject, "exec").decision;
  const sharedKey = `tools.elevated.allowFrom.${channel}`;
  const ownKey = `agents.list[].tools.elevated.allowFrom.${channel}`;
  const ownList = own?.allowFrom?.[channel];
  return [
    gate(shared?.enabled !== false, "tools.elevated.enabled", "it is false"),
    gate(listed(shared?.allowFrom?.[channel], names), sharedKey, "nobody of this chat is listed"),
    gate(own?.enabled !== false, "agents.list[].tools.elevated.enabled", "it is false"),
    gate(ownList === undefined || listed(ownList, names), ownKey, "nobody of this chat is listed"),
    gate(exec.allowed, exec.decidedBy?.path ?? "tools", "exec is not allowed here"),
    gate(!subject.subagent, "session", "sub-agents are never elevated"),
  ].flat();
}

function gate(open: boolean, key: string, why: string): Gate[] {
  return open ? [] : [{ key, why }];
}

function listed(list: readonly (string | number)[] | undefined, names: readonly string[]): boolean {
  return (list ?? []).some((entry) => {
    const wanted = String(entry).trim().toLowerCase();
    return wanted === "*" || names.includes(wanted);
  });
}

async function channelOf(scene: Scene): Promise<string> {
  const entry = await scene.entry();
  return (
    groupOfKey(scene.context.sessionKey)?.channel ??
    entry.lastChannel ??
    entry.channel ??
    "webchat"
  ).toLowerCase();
}

/** In a group the one who wrote is not known here, so only `*` lets anyone through. */
async function sendersOf(scene: Scene): Promise<string[]> {
  if (groupOfKey(scene.context.sessionKey) !== undefined) return [];
  const record = await scene.session();
  const { origin } = await scene.entry();
  const from = isRecord(origin) && typeof origin.from === "string" ? [origin.from] : [];
  return [scene.context.sessionKey, record?.sessionId ?? "", ...from]
    .map((name) => name.toLowerCase())
    .filter((name) => name !== "");
}
