// Checks what agents can access besides commands: files, each other, other chats; and finds rules without effect.
import { agentConfig, workspaceOf } from "../../config/agents.ts";
import { universeOf } from "../../tool/policy/universe.ts";
import { listWarnings } from "../../tool/policy/warnings.ts";
import { openChannels } from "./channels.ts";
import { at, setKey, unsetKey, type Finding, type AuditContext } from "./finding.ts";
import { reachOf } from "./reach.ts";
import { within } from "./sandbox.ts";

const strong = ["exec", "write", "edit", "apply_patch", "gateway", "cron", "nodes", "browser"];

export function checkAgents(context: AuditContext): Finding[] {
  return [
    ...fileFindings(context),
    ...workspaceFindings(context),
    ...openFindings(context),
    ...crossAccessFindings(context),
    ...ineffectiveRules(context),
  ];
}

function fileFindings(context: AuditContext): Finding[] {
  const { config } = context.loaded;
  return reachOf(config).flatMap(({ agent, own, mode, may }): Finding[] => {
    const ownSetting = agentConfig(config, agent)?.tools?.fs?.workspaceOnly;
    const isBound = ownSetting ?? config.tools?.fs?.workspaceOnly ?? false;
    if (isBound || mode === "all" || !["read", "write", "edit"].some(may)) return [];
    const path = ownSetting === undefined ? "tools.fs.workspaceOnly" : [...own, "tools", "fs", "workspaceOnly"];
    return [
      {
        id: "tools.whole-disk",
        weight: "medium",
        what: `agent ${agent}: file tools reach the whole disk, not only the workspace`,
        why: "untrusted text can make it read your keys or change your start-up files",
        where: at(context, path),
        fix: setKey(path, "true"),
      },
    ];
  });
}

/** A workspace that is a whole home or disk makes every limit to the workspace ineffective. */
function workspaceFindings(context: AuditContext): Finding[] {
  const { config } = context.loaded;
  return reachOf(config).flatMap(({ agent, own }): Finding[] => {
    const folder = workspaceOf(config, agent, context.paths);
    if (!within(context.paths.state, folder)) return [];
    const isOwn = agentConfig(config, agent)?.workspace !== undefined;
    const path = isOwn ? [...own, "workspace"] : ["agents", "defaults", "workspace"];
    return [
      {
        id: "tools.wide-workspace",
        weight: "high",
        what: `agent ${agent}: its workspace ${folder} contains the gateway's state and everything beside it`,
        why: "tools and sandboxes that are limited to the workspace can then access your keys and files",
        where: at(context, path),
        fix: unsetKey(path),
      },
    ];
  });
}

/** Unknown senders combined with powerful tools are the most dangerous setup. */
function openFindings(context: AuditContext): Finding[] {
  const channels = openChannels(context);
  const [channel] = channels;
  if (channel === undefined) return [];
  return reachOf(context.loaded.config).flatMap(({ agent, may, mode }): Finding[] => {
    const has = strong.filter(may);
    if (has.length === 0) return [];
    return [
      {
        id: "tools.open-to-strangers",
        weight: mode === "off" ? "critical" : "high",
        what: `anyone can talk to the agents (${channels
          .map(({ path }) => path)
          .slice(0, 3)
          .join(", ")}), and agent ${agent} may use ${has.slice(0, 4).join(", ")}`,
        why: "any message can then become a command on this machine",
        where: at(context, channel.path),
        fix: setKey("tools.profile", "messaging"),
      },
    ];
  });
}

function crossAccessFindings(context: AuditContext): Finding[] {
  const { tools } = context.loaded.config;
  const { enabled, allow } = tools?.agentToAgent ?? {};
  const found: Finding[] = [];
  if (enabled === true && (allow === undefined || allow.includes("*")) && reachOf(context.loaded.config).length > 1)
    found.push({
      id: "tools.agents-see-all",
      weight: "medium",
      what: "every agent may read and write the sessions of every other",
      why: "an agent that unknown senders can reach can then use the one that talks to you",
      where: at(context, "tools.agentToAgent.enabled"),
      fix: setKey("tools.agentToAgent.enabled", "false"),
    });
  if (tools?.message?.crossContext?.allowAcrossProviders === true)
    found.push({
      id: "tools.cross-channel",
      weight: "medium",
      what: "a chat may make the agent write to chats on other channels",
      why: "a person in one chat can then write in your name in another",
      where: at(context, "tools.message.crossContext.allowAcrossProviders"),
      fix: unsetKey("tools.message.crossContext.allowAcrossProviders"),
    });
  return found;
}

function ineffectiveRules(context: AuditContext): Finding[] {
  return listWarnings(context.loaded.config, universeOf(context.loaded.config)).map(
    ({ path, message, nearest, ignored }): Finding => ({
      id: "tools.dead-rule",
      weight: ignored ? "medium" : "low",
      what: message,
      why: ignored
        ? "the whole list is ignored, so it protects nothing"
        : "a rule without effect looks like protection",
      where: at(context, path),
      fix: nearest === undefined ? unsetKey(path) : setKey(path, nearest),
    }),
  );
}
