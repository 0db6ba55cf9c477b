// Reads which node runs commands from the config, and builds the patch that changes only that.
import { OpenClawError } from "../../../src/core/error.ts";
import { visible } from "../../../src/core/visible.ts";
import { isRecord } from "../../../src/core/record.ts";
import type { NodeRow } from "../../../src/protocol/methods/nodes.ts";

/** Undefined: any node, or for an agent the global setting. */
export type Bound = string | undefined;

export interface Bindings {
  readonly global: Bound;
  /** The entries of `agents.list`, in their order. */
  readonly agents: readonly { readonly id: string; readonly node: Bound }[];
  /** The default host of commands; a binding matters only for `node`. */
  readonly host: string;
}

/** An unsaved choice; `at` is an index of `agents.list`. */
export interface Choice {
  readonly at: number | "global";
  readonly from: Bound;
  readonly to: Bound;
}

/** From the effective config of `config.get`. */
export function bindingsOf(config: unknown): Bindings {
  const host = read(config, "tools", "exec", "host");
  const list = read(config, "agents", "list");
  return {
    global: boundIn(config),
    agents: (Array.isArray(list) ? list : []).map((agent: unknown, index) => ({
      id: textOf(read(agent, "id")) ?? `number ${index + 1}`,
      node: boundIn(agent),
    })),
    host: textOf(host) ?? "sandbox",
  };
}

export function boundAt({ global, agents }: Bindings, at: Choice["at"]): Bound {
  return at === "global" ? global : agents[at]?.node;
}

/** Adds a choice; selecting the stored value again removes it. */
export function choose(choices: readonly Choice[], bindings: Bindings, at: Choice["at"], to: Bound): readonly Choice[] {
  const others = choices.filter((choice) => choice.at !== at);
  const from = boundAt(bindings, at);
  return from === to ? others : [...others, { at, from, to }];
}

/** Drops choices for settings that another client changed in the meantime. */
export function rebase(choices: readonly Choice[], before: Bindings, now: Bindings): readonly Choice[] {
  const isSameAgent = (at: Choice["at"]): boolean => at === "global" || before.agents[at]?.id === now.agents[at]?.id;
  return choices.filter(({ at, from }) => isSameAgent(at) && boundAt(now, at) === from);
}

/** The config file as it is written. The JSON5 parser is large, so it is loaded only for a save. */
export async function parseConfigFile(raw: string): Promise<unknown> {
  if (raw.trim() === "") return {};
  const { default: json5 } = await import("json5");
  return json5.parse<unknown>(raw);
}

/**
 * The merge patch of some choices. Lists are replaced whole, so `written` must be the file as written, before includes
 * and variables, so that the rest stays the same. Secrets in it are markers, which the gateway replaces.
 */
export function patchOf(written: unknown, choices: readonly Choice[]): Record<string, unknown> {
  const global = choices.find(({ at }) => at === "global");
  const own = choices.filter(({ at }) => at !== "global");
  return {
    ...(global === undefined ? {} : { tools: { exec: { node: global.to ?? null } } }),
    ...(own.length === 0 ? {} : { agents: { list: listWith(written, own) } }),
  };
}

/** The choices that did not take effect, because an included file overrides them. */
export function unmet(choices: readonly Choice[], now: Bindings): readonly Choice[] {
  return choices.filter(({ at, to }) => boundAt(now, at) !== to);
}

export interface NodeOption {
  readonly value: string;
  readonly label: string;
}

/** Nodes that can run commands, and the bound node, even if it is offline or written as a name. */
export function nodeOptions(nodes: readonly NodeRow[], bound: Bound): readonly NodeOption[] {
  const able = nodes.filter(({ commands }) => commands.includes("system.run"));
  const options = able.map((node) => ({ value: node.nodeId, label: nameOf(node) }));
  if (bound === undefined || able.some(({ nodeId }) => nodeId === bound)) return options;
  const known = nodes.find(({ nodeId }) => nodeId === bound);
  const away = known?.connected === true ? "cannot run commands" : "not connected";
  const label = known === undefined ? `${visible(bound, 60)} (as written in the config)` : `${nameOf(known)} (${away})`;
  return [...options, { value: bound, label }];
}

/** A node chooses its own name, which may contain any character. */
export function nameOf({ displayName, nodeId }: Pick<NodeRow, "displayName" | "nodeId">): string {
  const short = nodeId.slice(0, 12);
  return displayName === undefined ? short : `${visible(displayName, 60)} (${short})`;
}

function listWith(written: unknown, choices: readonly Choice[]): unknown[] {
  const list = read(written, "agents", "list");
  const last = Math.max(...choices.map(({ at }) => Number(at)));
  if (!Array.isArray(list) || list.length <= last) {
    throw new OpenClawError("page.included", "agents.list is in an included file, so this page cannot change it.", {
      hint: "change tools.exec.node of the agent in the file that agents.list is included from",
    });
  }
  return list.map((agent: unknown, index) => {
    const choice = choices.find(({ at }) => at === index);
    return choice === undefined ? agent : withNode(agent, choice.to);
  });
}

/** Removes objects that become empty without the binding. */
function withNode(agent: unknown, node: Bound): unknown {
  if (!isRecord(agent)) return agent;
  const tools = recordIn(agent["tools"]);
  const exec = withKey(recordIn(tools["exec"]), "node", node);
  return withKey(agent, "tools", filled(withKey(tools, "exec", filled(exec))));
}

function withKey(record: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  if (value !== undefined) return { ...record, [key]: value };
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}

const filled = (record: Record<string, unknown>): Record<string, unknown> | undefined =>
  Object.keys(record).length === 0 ? undefined : record;

const recordIn = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

const boundIn = (value: unknown): Bound => textOf(read(value, "tools", "exec", "node"));

/** An empty string is no binding. */
const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function read(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined), value);
}
