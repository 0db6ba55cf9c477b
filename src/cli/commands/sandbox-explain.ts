// `openclaw sandbox explain`: shows whether and how a session is sandboxed, its tools, and which keys change it.
import { mainSessionKey, sessionKindOf } from "../../core/names.ts";
import { createReadingCatalog } from "../../app/catalog.ts";
import { agentConfig, agentIds, mainKeyOf } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { elevationOf } from "../../exec/elevated.ts";
import { sandboxSettings } from "../../exec/sandbox-settings.ts";
import { sandboxDefaults } from "../../tool/policy/groups.ts";
import { subjectOf, type Subject } from "../../tool/subject.ts";
import { withSandboxes } from "../with-sandboxes.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { columns, shortPath, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";
import { subjectRequest, whoOptions } from "../subject-options.ts";

export const command = defineCommand({
  options: { ...whoOptions },
  examples: [
    { line: "sandbox explain", does: "the main session of the default agent" },
    { line: "sandbox explain --session agent:support:telegram:group:-100 --json", does: "one group, as JSON" },
  ],
  async run(io, { options }) {
    const loaded = await requireConfig(io);
    const { config } = loaded;
    const subject = subjectOf(subjectRequest(options), config);
    const { mode, backend, scope, workspaceAccess, workspaceRoot } = sandboxSettings(config, subject.agent, io.paths());
    const paths = await withSandboxes(io, loaded, async (sandboxes) => sandboxes.pathsOf(subject));
    const { allowed, decidedBy } = createReadingCatalog(io.paths(), io.env, loaded).judge(subject, "exec").decision;
    const elevation = elevationOf({
      config,
      agent: subject.agent,
      channel: subject.group?.channel,
      senders: subject.group?.senderIds ?? [],
      subagent: subject.subagent,
      execAllowed: allowed,
      execKey: decidedBy?.path,
    });
    const answer = {
      agentId: subject.agent,
      sessionKey: subject.session,
      mainSessionKey: mainSessionKey(subject.agent, mainKeyOf(config)),
      sandbox: {
        mode,
        backend,
        scope,
        workspaceAccess,
        workspaceRoot,
        sessionIsSandboxed: subject.sandboxed,
        workspace: subject.sandboxed ? paths.workspace : null,
        tools: toolLists(config, subject),
        ...browserNote(config, subject),
      },
      elevated: {
        enabled: config.tools?.elevated?.enabled !== false,
        channel: elevation.channel,
        allowedByConfig: elevation.open,
        failures: elevation.gates.map(({ key, why }) => ({ gate: why, key })),
      },
      fixIt: fixes(config, subject, mode),
    };
    io.print(io.json ? toJson(answer) : linesOf(answer, subject, config, io).join("\n"));
    return 0;
  },
});

interface SourcedList {
  readonly source: "agent" | "global" | "default";
  readonly key: string;
}

/** As the policy reads them: an agent with its own lists does not use the global ones. */
function toolLists(config: Config, { agent }: Subject) {
  const own = agentConfig(config, agent)?.tools?.sandbox?.tools;
  const index = agentIds(config).indexOf(agent);
  const written = own ?? config.tools?.sandbox?.tools ?? {};
  const path = own === undefined ? "tools.sandbox.tools" : `agents.list[${index}].tools.sandbox.tools`;
  const sourceOf = (name: "allow" | "deny"): SourcedList => ({
    source: written[name] === undefined ? "default" : own === undefined ? "global" : "agent",
    key: `${path}.${name}`,
  });
  return {
    allow: written.allow ?? sandboxDefaults.allow,
    deny: written.deny ?? sandboxDefaults.deny,
    sources: { allow: sourceOf("allow"), deny: sourceOf("deny") },
  };
}

/** Says where the browser is, because its debugging port and viewer page are looked for in vain. */
function browserNote(config: Config, { agent }: Subject): { readonly browser?: string } {
  const browser = { ...config.agents?.defaults?.sandbox?.browser, ...agentConfig(config, agent)?.sandbox?.browser };
  if (browser.enabled !== true) return {};
  return { browser: "inside the sandbox, headless; its only way out is the guard, and no port is opened" };
}

function fixes(config: Config, { agent, sandboxed }: Subject, mode: string): string[] {
  const index = agentIds(config).indexOf(agent);
  const own =
    agentConfig(config, agent)?.sandbox?.mode === undefined ? undefined : `agents.list[${index}].sandbox.mode`;
  const key = own ?? "agents.defaults.sandbox.mode";
  if (!sandboxed) return [mode === "off" ? key : `${key} (all instead of non-main)`, "session.mainKey"];
  return [
    key,
    "tools.sandbox.tools.allow",
    "tools.sandbox.tools.deny",
    "agents.list[].tools.sandbox.tools.allow",
    "tools.elevated.enabled",
  ];
}

function linesOf(
  answer: {
    readonly sandbox: {
      readonly mode: string;
      readonly backend: string;
      readonly scope: string;
      readonly workspaceAccess: string;
      readonly workspace: string | null;
      readonly tools: ReturnType<typeof toolLists>;
      readonly browser?: string;
    };
    readonly elevated: {
      readonly enabled: boolean;
      readonly channel: string;
      readonly allowedByConfig: boolean;
      readonly failures: readonly { gate: string; key: string }[];
    };
    readonly fixIt: readonly string[];
  },
  subject: Subject,
  config: Config,
  io: Io,
): string[] {
  const { sandbox, elevated } = answer;
  const kind =
    sessionKindOf(subject.session, mainKeyOf(config)) === "main" ? "the main session" : "not the main session";
  const named = ({ source, key }: SourcedList): string => `(${source}: ${key})`;
  const pairs: [string, string][] = [
    ["Session", `${subject.session}, ${kind} (main key: ${mainKeyOf(config)})`],
    ["Sandboxed", subject.sandboxed ? "yes" : "no: its commands run on this machine"],
    [
      "Mode",
      `${sandbox.mode}, scope ${sandbox.scope}, workspace ${sandbox.workspaceAccess}, backend ${sandbox.backend}`,
    ],
    ...(sandbox.workspace === null ? [] : [["Workspace", shortPath(sandbox.workspace, io)] satisfies [string, string]]),
    ["Allowed there", `${sandbox.tools.allow.join(", ") || "everything"} ${named(sandbox.tools.sources.allow)}`],
    ["Denied there", `${sandbox.tools.deny.join(", ") || "none"} ${named(sandbox.tools.sources.deny)}`],
    ...(sandbox.browser === undefined ? [] : [["Browser", sandbox.browser] satisfies [string, string]]),
    [
      "Elevated",
      elevated.allowedByConfig
        ? `open for ${elevated.channel}`
        : `closed for ${elevated.channel}: ${elevated.failures.map(({ key, gate }) => `${key} (${gate})`).join(", ")}`,
    ],
    ["Change it with", answer.fixIt.join("\n")],
  ];
  return columns(pairs, { width: io.width });
}
