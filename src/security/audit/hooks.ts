// Webhooks from outside: their secret, what they may choose, and scripts they run.
import { dirname, resolve } from "node:path";

import { expandHome } from "../../base/paths.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import { sharedSecret } from "../../gateway/secret.ts";
import { bundledCards } from "../../plugin/hook/bundled/cards.ts";
import { discoverHooks } from "../../plugin/hook/discover.ts";
import { statOf } from "./files.ts";
import { at, setKey, unsetKey, type Finding, type Ground } from "./finding.ts";
import { within } from "./sandbox.ts";
import { weaknessOf } from "./weak-secret.ts";

export function checkHooks(ground: Ground): Finding[] {
  const { hooks } = ground.loaded.config;
  return [
    ...(hooks?.enabled === true
      ? [...tokenFindings(ground), ...senderFindings(ground), ...mappingFindings(ground)]
      : []),
    ...scriptFolders(ground),
    ...changedScripts(ground),
  ];
}

/** Nothing is loaded from where others write; whoever put scripts there should know why they do not run. */
function scriptFolders(ground: Ground): Finding[] {
  const { hooks } = ground.loaded.config;
  const beside = (folder: string): string =>
    folder.startsWith("~") ? expandHome(folder, ground.paths.home) : resolve(dirname(ground.paths.config), folder);
  const transforms =
    hooks?.transformsDir === undefined ? [] : [["hooks.transformsDir", beside(hooks.transformsDir)] as const];
  const extra = (hooks?.internal?.load?.extraDirs ?? []).map(
    (folder, index) => [`hooks.internal.load.extraDirs[${index}]`, expandHome(folder, ground.paths.home)] as const,
  );
  return [...transforms, ...extra].flatMap(([path, folder]) =>
    codeFolder(ground, path, folder, "hooks.writable-scripts").map((finding): Finding => ({
      ...finding,
      weight: "medium",
      what: `scripts in ${folder} are not run as they are: ${finding.what.replace(/^.*?, and /, "")}`,
    })),
  );
}

function changedScripts({ loaded, paths, env }: Ground): Finding[] {
  const rows = discoverHooks({ config: loaded.config, paths, env, bundled: bundledCards });
  return rows.flatMap(({ name, enabled, needsPin, problem, folder }): Finding[] => {
    if (!enabled || !needsPin || problem === undefined) return [];
    return [
      {
        id: "hooks.changed-script",
        weight: "medium",
        what: `hook ${name} in ${folder ?? "a workspace"} does not run: ${problem}`,
        why: "agents write there; what it does now may not be what you once read",
        where: at({ loaded }, `hooks.internal.entries.${name}`),
        fix: `openclaw hooks disable ${name}`,
      },
    ];
  });
}

/** What the sender of a webhook may choose. */
function senderFindings(ground: Ground): Finding[] {
  const { allowRequestSessionKey, mappings = [] } = ground.loaded.config.hooks ?? {};
  const paths = [
    ...(allowRequestSessionKey === true ? ["hooks.allowRequestSessionKey"] : []),
    ...mappings.flatMap(({ sessionKey }, index) =>
      sessionKey?.includes("{{") === true ? [`hooks.mappings[${index}].sessionKey`] : [],
    ),
  ];
  return paths.map((path) => ({
    id: "hooks.chosen-session",
    weight: "low",
    what: "the sender of a webhook chooses the session below hook: that it runs in",
    why: "it can read and write what other webhooks left there",
    where: at(ground, path),
    fix: unsetKey(path),
  }));
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
  return unmarked.map((path) => ({
    id: "hooks.unmarked",
    weight: "high",
    what: "text from a webhook reaches the agent as if you had written it",
    why: "anyone can write mails and tickets; unmarked, the agent may follow their text as instructions",
    where: at(ground, path),
    fix: unsetKey(path),
  }));
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
