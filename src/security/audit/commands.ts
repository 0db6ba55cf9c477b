// Checks how commands run: what needs approval, which programs do not, and who can leave the sandbox.
import { isAbsolute, resolve } from "node:path";

import { expandHome } from "../../base/paths.ts";
import { agentConfig, workspaceOf } from "../../config/agents.ts";
import type { ConfigPath } from "../../config/path.ts";
import type { Config } from "../../config/schema/index.ts";
import { agentIndex, modeOf } from "../../exec/describe-route.ts";
import { isKnownFilter } from "../../exec/policy/safe-bins.ts";
import { statOf } from "./files.ts";
import { at, listWithout, setKey, unsetKey, type Finding, type AuditContext } from "./finding.ts";
import { programKind } from "./programs.ts";
import { reachOf } from "./reach.ts";
import { within } from "./sandbox.ts";

type Exec = NonNullable<NonNullable<Config["tools"]>["exec"]>;

export async function checkCommands(context: AuditContext): Promise<Finding[]> {
  const { tools, agents } = context.loaded.config;
  const own = (agents?.list ?? []).flatMap(({ tools: one }, index): Finding[] => [
    ...listFindings(context, ["agents", "list", index, "tools", "exec"], one?.exec ?? {}),
    ...elevatedFindings(context, ["agents", "list", index, "tools", "elevated"], one?.elevated?.allowFrom),
  ]);
  return [
    ...reachOf(context.loaded.config).flatMap(({ agent, may }) => (may("exec") ? policyFindings(context, agent) : [])),
    ...listFindings(context, ["tools", "exec"], tools?.exec ?? {}),
    ...elevatedFindings(context, ["tools", "elevated"], tools?.elevated?.allowFrom),
    ...own,
    ...defaultLevel(context),
    ...chatCommands(context),
    ...(await guardFindings(context)),
  ];
}

async function guardFindings({ machine }: AuditContext): Promise<Finding[]> {
  const unguarded = await machine.unguarded();
  if (unguarded === undefined) return [];
  const { agents, reason, fix } = unguarded;
  return [
    {
      id: "exec.unguarded",
      weight: "medium",
      what: `the gateway's own files cannot be hidden from allowlisted commands of ${agents.join(", ")} here: ${reason}`,
      why: "each such command then needs your approval, and people who are asked too often stop reading",
      where: {},
      fix,
    },
  ];
}

/** The effective rules of one agent: its own keys override the shared ones. */
function policyFindings(context: AuditContext, agent: ReturnType<typeof reachOf>[number]["agent"]): Finding[] {
  const { config } = context.loaded;
  const own = agentConfig(config, agent)?.tools?.exec ?? {};
  const shared = config.tools?.exec ?? {};
  const index = agentIndex(config, agent);
  const pathOf = (key: "host" | "security" | "ask"): ConfigPath =>
    own[key] === undefined ? ["tools", "exec", key] : ["agents", "list", index, "tools", "exec", key];
  const host = own.host ?? shared.host ?? "sandbox";
  const security = own.security ?? shared.security;
  const ask = own.ask ?? shared.ask ?? "on-miss";
  const mode = modeOf(config, agent).value;
  const found: Finding[] = [];
  if (host !== "sandbox" && security === "full" && ask === "off")
    found.push({
      id: "exec.no-questions",
      weight: "critical",
      what: `agent ${agent} runs any command on the ${host} without asking (security=full, ask=off)`,
      why: "one sentence in a web page is enough to run a program as you",
      where: at(context, pathOf("security")),
      fix: setKey(pathOf("security"), "allowlist"),
    });
  else if (host !== "sandbox" && security === "full" && ask !== "always")
    found.push({
      id: "exec.full",
      weight: "critical",
      what: `agent ${agent} runs any command on the ${host}: with security=full every program is allowed, so ask=on-miss never asks`,
      why: "one sentence in a web page is enough to run a program as you",
      where: at(context, pathOf("security")),
      fix: setKey(pathOf("security"), "allowlist"),
    });
  else if (host !== "sandbox" && security === "full")
    found.push({
      id: "exec.full-asked",
      weight: "medium",
      what: `agent ${agent} can run any command on the ${host} after your approval`,
      why: "people who are asked about everything approve everything",
      where: at(context, pathOf("security")),
      fix: setKey(pathOf("security"), "allowlist"),
    });
  else if (host !== "sandbox" && ask === "off" && security !== "deny")
    found.push({
      id: "exec.never-asks",
      weight: "info",
      what: `agent ${agent}: commands outside the allowlist are denied without asking you`,
      why: "this is safe, but you do not learn what it tried",
      where: at(context, pathOf("ask")),
      fix: setKey(pathOf("ask"), "on-miss"),
    });
  if (host === "gateway" && mode !== "off")
    found.push({
      id: "exec.leaves-sandbox",
      weight: "medium",
      what: `agent ${agent} is sandboxed, but its commands run on the gateway (host=gateway)`,
      why: "the sandbox then limits only the file tools",
      where: at(context, pathOf("host")),
      fix: setKey(pathOf("host"), "sandbox"),
    });
  return found;
}

function listFindings(context: AuditContext, path: ConfigPath, { safeBins = [], pathPrepend = [] }: Exec): Finding[] {
  const bins = safeBins.flatMap((name, index): Finding[] => {
    const kind = programKind(name);
    if (kind === undefined)
      return isKnownFilter(name) ? [] : [ineffectiveSafeBin(context, [...path, "safeBins", index], name)];
    return [
      {
        id: "exec.unsafe-bin",
        weight: "high",
        what: `${name} counts as a safe filter, but ${kind}`,
        why: "it then runs without approval and cannot be limited to reading its input",
        where: at(context, [...path, "safeBins", index]),
        fix: unsetKey([...path, "safeBins", index]),
      },
    ];
  });
  const folders = pathPrepend.flatMap((folder, index) =>
    folderFindings(context, [...path, "pathPrepend", index], folder),
  );
  return [...bins, ...folders];
}

function ineffectiveSafeBin(context: AuditContext, path: ConfigPath, name: string): Finding {
  return {
    id: "exec.idle-bin",
    weight: "info",
    what: `${name} is listed as a safe filter, but there are no rules for its arguments, so it still needs approval`,
    why: "only filters with rules for every option can be limited to reading their input",
    where: at(context, path),
    fix: `openclaw approvals allowlist add $(command -v ${/^[\w.+-]+$/.test(name) ? name : "<program>"})`,
  };
}

/** A folder that others can write decides which program a name refers to. */
function folderFindings(context: AuditContext, path: ConfigPath, folder: string): Finding[] {
  const { config } = context.loaded;
  const real = resolve(expandHome(folder, context.paths.home));
  const spaces = reachOf(config).map(({ agent }) => workspaceOf(config, agent, context.paths));
  const mode = statOf(real)?.mode ?? 0;
  const reason =
    !isAbsolute(folder) && !folder.startsWith("~")
      ? "it is relative, so it depends on where the gateway was started"
      : spaces.some((space) => within(real, space))
        ? "it is in a workspace, where agents write"
        : (mode & 0o022) !== 0
          ? "other users can write to it"
          : undefined;
  if (reason === undefined) return [];
  return [
    {
      id: "exec.path-folder",
      weight: "high",
      what: `programs are searched in ${folder} first, and ${reason}`,
      why: "a file named ls there runs instead of the real one",
      where: at(context, path),
      fix: unsetKey(path),
    },
  ];
}

function elevatedFindings(
  context: AuditContext,
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
        what: `everyone on ${channel} can run commands outside the sandbox`,
        why: "elevated leaves the sandbox; allow it only for people you know by id",
        where: at(context, [...path, "allowFrom", channel, index]),
        fix: setKey(
          [...path, "allowFrom", channel],
          listWithout(people, (one) => one === "*"),
        ),
      },
    ];
  });
}

function defaultLevel(context: AuditContext): Finding[] {
  const { agents, tools } = context.loaded.config;
  const isOpen = Object.values(tools?.elevated?.allowFrom ?? {}).some((people) => people.length > 0);
  if (agents?.defaults?.elevatedDefault !== "full" || tools?.elevated?.enabled === false || !isOpen) return [];
  return [
    {
      id: "exec.elevated-full",
      weight: "high",
      what: "sessions of elevated senders start at level full: outside the sandbox, without approvals",
      why: "no barrier is left between what they forward and this machine",
      where: at(context, "agents.defaults.elevatedDefault"),
      fix: setKey("agents.defaults.elevatedDefault", "ask"),
    },
  ];
}

function chatCommands(context: AuditContext): Finding[] {
  const { commands } = context.loaded.config;
  const finding = (key: string, id: string, weight: Finding["weight"], what: string, why: string): Finding => ({
    id,
    weight,
    what,
    why,
    where: at(context, `commands.${key}`),
    fix: unsetKey(`commands.${key}`),
  });
  return [
    ...(commands?.useAccessGroups === false
      ? [
          finding(
            "useAccessGroups",
            "commands.no-groups",
            "high",
            "slash commands ignore the allow lists of messages",
            "people who cannot talk to the agent can still command it",
          ),
        ]
      : []),
    ...((commands?.ownerAllowFrom ?? []).map(String).includes("*")
      ? [
          finding(
            "ownerAllowFrom",
            "commands.any-owner",
            "critical",
            "every sender counts as owner (commands.ownerAllowFrom contains *)",
            "owners can do everything",
          ),
        ]
      : []),
    ...(commands?.bash === true
      ? [
          finding(
            "bash",
            "commands.bash",
            "medium",
            "chats can run shell commands with ! and /bash",
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
            "chats can change the config with /config",
            "whoever takes over a chat account can remove every other limit",
          ),
        ]
      : []),
    ...(commands?.debug === true
      ? [
          finding(
            "debug",
            "commands.debug",
            "low",
            "chats can change settings temporarily with /debug",
            "such changes are not stored anywhere",
          ),
        ]
      : []),
  ];
}
