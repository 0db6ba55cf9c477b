// Webhooks from outside: their secret, what they may choose, and scripts they run.
import { resolve } from "node:path";

import { expandHome } from "../../base/paths.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import { sharedSecret } from "../../gateway/secret.ts";
import { statOf } from "./files.ts";
import { at, setKey, unsetKey, type Finding, type Ground } from "./finding.ts";
import { within } from "./sandbox.ts";
import { weaknessOf } from "./weak-secret.ts";

export function checkHooks(ground: Ground): Finding[] {
  const { hooks } = ground.loaded.config;
  const folders = [
    ...(hooks?.transformsDir === undefined ? [] : [["hooks.transformsDir", hooks.transformsDir] as const]),
    ...(hooks?.internal?.load?.extraDirs ?? []).map(
      (folder, index) => [`hooks.internal.load.extraDirs[${index}]`, folder] as const,
    ),
  ];
  return [
    ...(hooks?.enabled === true ? [...tokenFindings(ground), ...mappingFindings(ground)] : []),
    ...folders.flatMap(([path, folder]) => codeFolder(ground, path, folder, "hooks.writable-scripts")),
  ];
}

function tokenFindings(ground: Ground): Finding[] {
  const { hooks, gateway } = ground.loaded.config;
  const token = hooks?.token ?? "";
  const fix = setKey("hooks.token", "$(openssl rand -hex 24)");
  const others = [
    sharedSecret(ground.loaded.config, ground.env).value,
    gateway?.auth?.token,
    gateway?.auth?.password,
    gateway?.remote?.token,
  ];
  if (token !== "" && others.includes(token))
    return [
      {
        id: "hooks.same-token",
        weight: "critical",
        what: "hooks.token is also the gateway's own secret",
        why: "whoever may send a webhook may then do everything",
        where: at(ground, "hooks.token"),
        fix,
      },
    ];
  const weakness = weaknessOf(token);
  if (weakness === undefined) return [];
  return [
    {
      id: "hooks.weak-token",
      weight: "high",
      what: `hooks.token can be guessed: ${weakness}`,
      why: "whoever guesses it can make your agent run",
      where: at(ground, "hooks.token"),
      fix,
    },
  ];
}

function mappingFindings(ground: Ground): Finding[] {
  const { mappings = [], gmail } = ground.loaded.config.hooks ?? {};
  const unmarked = [
    ...mappings.flatMap(({ allowUnsafeExternalContent }, index) =>
      allowUnsafeExternalContent === true ? [`hooks.mappings[${index}].allowUnsafeExternalContent`] : [],
    ),
    ...(gmail?.allowUnsafeExternalContent === true ? ["hooks.gmail.allowUnsafeExternalContent"] : []),
  ];
  const chosen = mappings.flatMap(({ sessionKey }, index) =>
    sessionKey?.includes("{{") === true ? [`hooks.mappings[${index}].sessionKey`] : [],
  );
  return [
    ...unmarked.map((path): Finding => ({
      id: "hooks.unmarked",
      weight: "high",
      what: "text from a webhook reaches the agent as if you had written it",
      why: "mails and tickets are written by strangers; unmarked, their words are orders",
      where: at(ground, path),
      fix: unsetKey(path),
    })),
    ...chosen.map((path): Finding => ({
      id: "hooks.chosen-session",
      weight: "medium",
      what: "the sender of a webhook chooses the session it runs in",
      why: "it can name the session in which you speak",
      where: at(ground, path),
      fix: unsetKey(path),
    })),
  ];
}

/** Code that is loaded into the gateway must not lie where agents or others write. */
export function codeFolder(ground: Ground, path: string, folder: string, id: string): Finding[] {
  const { config } = ground.loaded;
  const real = resolve(expandHome(folder, ground.paths.home));
  const inWorkspace = agentIds(config).some((agent) => within(real, workspaceOf(config, agent, ground.paths)));
  const isOpen = ((statOf(real)?.mode ?? 0) & 0o022) !== 0;
  if (!inWorkspace && !isOpen) return [];
  return [
    {
      id,
      weight: inWorkspace ? "critical" : "high",
      what: `code is loaded from ${real}, and ${inWorkspace ? "that is a workspace, where agents write" : "other users may write there"}`,
      why: "whoever can write there runs code inside the gateway",
      where: at(ground, path),
      fix: inWorkspace ? unsetKey(path) : `chmod go-w ${real}`,
    },
  ];
}
