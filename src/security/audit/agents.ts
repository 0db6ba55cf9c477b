// What agents may reach beyond commands: files, each other, other chats, and rules that do nothing.
import { agentConfig, workspaceOf } from "../../config/agents.ts";
import { coreTools } from "../../tool/policy/groups.ts";
import { listWarnings } from "../../tool/policy/warnings.ts";
import { openDoors } from "./channels.ts";
import { at, setKey, unsetKey, type Finding, type Ground } from "./finding.ts";
import { reachOf } from "./reach.ts";
import { within } from "./sandbox.ts";

const strong = ["exec", "write", "edit", "apply_patch", "gateway", "cron", "nodes", "browser"];

export function checkAgents(ground: Ground): Finding[] {
  return [
    ...fileFindings(ground),
    ...wideFindings(ground),
    ...openFindings(ground),
    ...betweenFindings(ground),
    ...deadRules(ground),
  ];
}

function fileFindings(ground: Ground): Finding[] {
  const { config } = ground.loaded;
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
        why: "it can be talked into reading your keys or changing your start-up files",
        where: at(ground, path),
        fix: setKey(path, "true"),
      },
    ];
  });
}

/** A workspace that is a whole home or disk: all that is bound to it is bound to nothing. */
function wideFindings(ground: Ground): Finding[] {
  const { config } = ground.loaded;
  return reachOf(config).flatMap(({ agent, own }): Finding[] => {
    const folder = workspaceOf(config, agent, ground.paths);
    if (!within(ground.paths.state, folder)) return [];
    const isOwn = agentConfig(config, agent)?.workspace !== undefined;
    const path = isOwn ? [...own, "workspace"] : ["agents", "defaults", "workspace"];
    return [
      {
        id: "tools.wide-workspace",
        weight: "high",
        what: `agent ${agent}: its workspace ${folder} holds the state of the gateway and all that is beside it`,
        why: "what keeps tools and sandboxes inside the workspace then lets them reach your keys and files",
        where: at(ground, path),
        fix: unsetKey(path),
      },
    ];
  });
}

/** Strangers in front of strong tools: the worst pair there is. */
function openFindings(ground: Ground): Finding[] {
  const doors = openDoors(ground);
  const [door] = doors;
  if (door === undefined) return [];
  return reachOf(ground.loaded.config).flatMap(({ agent, may, mode }): Finding[] => {
    const has = strong.filter(may);
    if (has.length === 0) return [];
    return [
      {
        id: "tools.open-to-strangers",
        weight: mode === "off" ? "critical" : "high",
        what: `anybody can talk to the agents (${doors
          .map(({ path }) => path)
          .slice(0, 3)
          .join(", ")}), and agent ${agent} may use ${has.slice(0, 4).join(", ")}`,
        why: "a message from anyone is then a command on this machine",
        where: at(ground, door.path),
        fix: setKey("tools.profile", "messaging"),
      },
    ];
  });
}

function betweenFindings(ground: Ground): Finding[] {
  const { tools } = ground.loaded.config;
  const { enabled, allow } = tools?.agentToAgent ?? {};
  const found: Finding[] = [];
  if (enabled === true && (allow === undefined || allow.includes("*")) && reachOf(ground.loaded.config).length > 1)
    found.push({
      id: "tools.agents-see-all",
      weight: "medium",
      what: "every agent may read and write the sessions of every other",
      why: "an agent that unknown senders can reach can then use the one that talks to you",
      where: at(ground, "tools.agentToAgent.enabled"),
      fix: setKey("tools.agentToAgent.enabled", "false"),
    });
  if (tools?.message?.crossContext?.allowAcrossProviders === true)
    found.push({
      id: "tools.cross-channel",
      weight: "medium",
      what: "a chat may make the agent write to chats on other channels",
      why: "somebody in one room can speak in your name in another",
      where: at(ground, "tools.message.crossContext.allowAcrossProviders"),
      fix: unsetKey("tools.message.crossContext.allowAcrossProviders"),
    });
  return found;
}

function deadRules(ground: Ground): Finding[] {
  return listWarnings(ground.loaded.config, { core: coreTools, plugins: [] }).map(
    ({ path, message, nearest, ignored }): Finding => ({
      id: "tools.dead-rule",
      weight: ignored ? "medium" : "low",
      what: message,
      why: ignored
        ? "the whole list is set aside, so it protects nothing"
        : "a rule that does nothing looks like safety",
      where: at(ground, path),
      fix: nearest === undefined ? unsetKey(path) : setKey(path, nearest),
    }),
  );
}
