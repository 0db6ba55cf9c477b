// How commands run: who is asked, which programs need no asking, and who may leave the sandbox.
import { isAbsolute, resolve } from "node:path";

import { expandHome } from "../../base/paths.ts";
import { agentConfig, workspaceOf } from "../../config/agents.ts";
import type { ConfigPath } from "../../config/path.ts";
import type { Config } from "../../config/schema/index.ts";
import { isKnownFilter } from "../../exec/policy/safe-bins.ts";
import { statOf } from "./files.ts";
import { at, listWithout, setKey, unsetKey, type Finding, type Ground } from "./finding.ts";
import { programKind } from "./programs.ts";
import { reachOf } from "./reach.ts";
import { within } from "./sandbox.ts";

type Exec = NonNullable<NonNullable<Config["tools"]>["exec"]>;

export async function checkCommands(ground: Ground): Promise<Finding[]> {
  const { tools, agents } = ground.loaded.config;
  const own = (agents?.list ?? []).flatMap(({ tools: one }, index): Finding[] => [
    ...listFindings(ground, ["agents", "list", index, "tools", "exec"], one?.exec ?? {}),
    ...elevatedFindings(ground, ["agents", "list", index, "tools", "elevated"], one?.elevated?.allowFrom),
  ]);
  return [
    ...reachOf(ground.loaded.config).flatMap(({ agent, may }) => (may("exec") ? policyFindings(ground, agent) : [])),
    ...listFindings(ground, ["tools", "exec"], tools?.exec ?? {}),
    ...elevatedFindings(ground, ["tools", "elevated"], tools?.elevated?.allowFrom),
    ...own,
    ...defaultLevel(ground),
    ...chatCommands(ground),
    ...(await guardFindings(ground)),
  ];
}

async function guardFindings({ machine }: Ground): Promise<Finding[]> {
  const unguarded = await machine.unguarded();
  if (unguarded === undefined) return [];
  const { agents, reason, fix } = unguarded;
  return [
    {
      id: "exec.unguarded",
      weight: "medium",
      what: `listed commands of ${agents.join(", ")} cannot be kept from the gateway's own files here: ${reason}`,
      why: "each of them waits for your approval, and people who are asked too often stop reading",
      where: {},
      fix,
    },
  ];
}

/** What holds for one agent once its own keys stand over the shared ones. */
function policyFindings(ground: Ground, agent: ReturnType<typeof reachOf>[number]["agent"]): Finding[] {
  const { config } = ground.loaded;
  const own = agentConfig(config, agent)?.tools?.exec ?? {};
  const shared = config.tools?.exec ?? {};
  const index = config.agents?.list?.findIndex(({ id }) => id.trim().toLowerCase() === agent) ?? -1;
  const pathOf = (key: "host" | "security" | "ask"): ConfigPath =>
    own[key] === undefined ? ["tools", "exec", key] : ["agents", "list", index, "tools", "exec", key];
  const host = own.host ?? shared.host ?? "sandbox";
  const security = own.security ?? shared.security;
  const ask = own.ask ?? shared.ask ?? "on-miss";
  const mode = agentConfig(config, agent)?.sandbox?.mode ?? config.agents?.defaults?.sandbox?.mode ?? "off";
  const found: Finding[] = [];
  if (host !== "sandbox" && security === "full" && ask === "off")
    found.push({
      id: "exec.no-questions",
      weight: "critical",
      what: `agent ${agent} runs any command on the ${host} without asking (security=full, ask=off)`,
      why: "one sentence in a page it reads is enough to run a program as you",
      where: at(ground, pathOf("security")),
      fix: setKey(pathOf("security"), "allowlist"),
    });
  else if (host !== "sandbox" && security === "full" && ask !== "always")
    found.push({
      id: "exec.full",
      weight: "critical",
      what: `agent ${agent} runs any command on the ${host}: with security=full there is nothing to miss, so nobody is asked`,
      why: "one sentence in a page it reads is enough to run a program as you",
      where: at(ground, pathOf("security")),
      fix: setKey(pathOf("security"), "allowlist"),
    });
  else if (host !== "sandbox" && security === "full")
    found.push({
      id: "exec.full-asked",
      weight: "medium",
      what: `agent ${agent} may run any command on the ${host}, once you have said yes to it`,
      why: "people who are asked about everything say yes to everything",
      where: at(ground, pathOf("security")),
      fix: setKey(pathOf("security"), "allowlist"),
    });
  else if (host !== "sandbox" && ask === "off" && security !== "deny")
    found.push({
      id: "exec.never-asks",
      weight: "info",
      what: `agent ${agent}: commands outside the allowlist are refused without asking you`,
      why: "safe, but you will not learn what it tried",
      where: at(ground, pathOf("ask")),
      fix: setKey(pathOf("ask"), "on-miss"),
    });
  if (host === "gateway" && mode !== "off")
    found.push({
      id: "exec.leaves-sandbox",
      weight: "medium",
      what: `agent ${agent} is sandboxed, but its commands run on the gateway (host=gateway)`,
      why: "the sandbox then holds only the file tools",
      where: at(ground, pathOf("host")),
      fix: setKey(pathOf("host"), "sandbox"),
    });
  return found;
}

function listFindings(ground: Ground, path: ConfigPath, { safeBins = [], pathPrepend = [] }: Exec): Finding[] {
  const bins = safeBins.flatMap((name, index): Finding[] => {
    const kind = programKind(name);
    if (kind === undefined) return isKnownFilter(name) ? [] : [idleBin(ground, [...path, "safeBins", index], name)];
    return [
      {
        id: "exec.unsafe-bin",
        weight: "high",
        what: `${name} counts as a safe filter, but ${kind}`,
        why: "it then runs without asking; there is no way to keep it to reading its input",
        where: at(ground, [...path, "safeBins", index]),
        fix: unsetKey([...path, "safeBins", index]),
      },
    ];
  });
  const folders = pathPrepend.flatMap((folder, index) =>
    folderFindings(ground, [...path, "pathPrepend", index], folder),
  );
  return [...bins, ...folders];
}

function idleBin(ground: Ground, path: ConfigPath, name: string): Finding {
  return {
    id: "exec.idle-bin",
    weight: "info",
    what: `${name} is listed as a safe filter, but there are no rules for its arguments: it still needs an approval`,
    why: "only filters whose every option is known can be kept to reading their input",
    where: at(ground, path),
    fix: `openclaw approvals allowlist add $(command -v ${/^[\w.+-]+$/.test(name) ? name : "<program>"})`,
  };
}

/** A folder others fill decides which program a name means. */
function folderFindings(ground: Ground, path: ConfigPath, folder: string): Finding[] {
  const { config } = ground.loaded;
  const real = resolve(expandHome(folder, ground.paths.home));
  const spaces = reachOf(config).map(({ agent }) => workspaceOf(config, agent, ground.paths));
  const mode = statOf(real)?.mode ?? 0;
  const reason =
    !isAbsolute(folder) && !folder.startsWith("~")
      ? "it is relative, so it depends on where the gateway was started"
      : spaces.some((space) => within(real, space))
        ? "it lies in a workspace, where agents write"
        : (mode & 0o022) !== 0
          ? "other users may write to it"
          : undefined;
  if (reason === undefined) return [];
  return [
    {
      id: "exec.path-folder",
      weight: "high",
      what: `programs are looked for in ${folder} first, and ${reason}`,
      why: "a file named ls in there runs in place of the real one",
      where: at(ground, path),
      fix: unsetKey(path),
    },
  ];
}

function elevatedFindings(
  ground: Ground,
  path: ConfigPath,
  allowFrom: Readonly<Record<string, readonly (string | number)[]>> = {},
): Finding[] {
  return Object.entries(allowFrom).flatMap(([channel, people]) => {
    const index = people.indexOf("*");
    if (index < 0) return [];
    return [
      {
        id: "exec.elevated-anyone",
        weight: "critical" as const,
        what: `everybody on ${channel} may run commands outside the sandbox`,
        why: "elevated is the way out of the sandbox; it is for people you know by id",
        where: at(ground, [...path, "allowFrom", channel, index]),
        fix: setKey(
          [...path, "allowFrom", channel],
          listWithout(people, (one) => one === "*"),
        ),
      },
    ];
  });
}

function defaultLevel(ground: Ground): Finding[] {
  const { agents, tools } = ground.loaded.config;
  const isOpen = Object.values(tools?.elevated?.allowFrom ?? {}).some((people) => people.length > 0);
  if (agents?.defaults?.elevatedDefault !== "full" || tools?.elevated?.enabled === false || !isOpen) return [];
  return [
    {
      id: "exec.elevated-full",
      weight: "high",
      what: "sessions of elevated people start at level full: outside the sandbox, without approvals",
      why: "nothing is left between what they forward and this machine",
      where: at(ground, "agents.defaults.elevatedDefault"),
      fix: setKey("agents.defaults.elevatedDefault", "ask"),
    },
  ];
}

function chatCommands(ground: Ground): Finding[] {
  const { commands } = ground.loaded.config;
  const finding = (key: string, id: string, weight: Finding["weight"], what: string, why: string): Finding => ({
    id,
    weight,
    what,
    why,
    where: at(ground, `commands.${key}`),
    fix: unsetKey(`commands.${key}`),
  });
  return [
    ...(commands?.useAccessGroups === false
      ? [
          finding(
            "useAccessGroups",
            "commands.no-groups",
            "high",
            "slash commands do not obey the allow lists of messages",
            "people who may not talk to the agent may still command it",
          ),
        ]
      : []),
    ...((commands?.ownerAllowFrom ?? []).map(String).includes("*")
      ? [
          finding(
            "ownerAllowFrom",
            "commands.any-owner",
            "critical",
            "everybody counts as owner (commands.ownerAllowFrom has *)",
            "owners may do everything",
          ),
        ]
      : []),
    ...(commands?.bash === true
      ? [
          finding(
            "bash",
            "commands.bash",
            "medium",
            "chats may run shell commands with ! and /bash",
            "whoever takes over a chat account has a shell here",
          ),
        ]
      : []),
    ...(commands?.config === true
      ? [
          finding(
            "config",
            "commands.config",
            "medium",
            "chats may change the config with /config",
            "whoever takes over a chat account can open everything else",
          ),
        ]
      : []),
    ...(commands?.debug === true
      ? [
          finding(
            "debug",
            "commands.debug",
            "low",
            "chats may change settings for the moment with /debug",
            "what is changed so is written nowhere",
          ),
        ]
      : []),
  ];
}
