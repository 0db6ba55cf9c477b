// Checks webhooks: their secret, what their sender can choose, and the scripts they run.
import { dirname, resolve } from "node:path";

import { expandHome, expandTilde } from "../../base/paths.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import { sharedSecret } from "../../gateway/secret.ts";
import { bundledCards } from "../../plugin/hook/bundled/cards.ts";
import { discoverHooks } from "../../plugin/hook/discover.ts";
import { statOf } from "./files.ts";
import { at, setKey, unsetKey, type Finding, type AuditContext } from "./finding.ts";
import { within } from "./sandbox.ts";
import { weaknessOf } from "./weak-secret.ts";

export function checkHooks(context: AuditContext): Finding[] {
  const { hooks } = context.loaded.config;
  return [
    ...(hooks?.enabled === true
      ? [...tokenFindings(context), ...senderFindings(context), ...mappingFindings(context)]
      : []),
    ...scriptFolders(context),
    ...changedScripts(context),
  ];
}

/** No script is loaded from a folder that others can write; the owner should know why it does not run. */
function scriptFolders(context: AuditContext): Finding[] {
  const { hooks } = context.loaded.config;
  const beside = (folder: string): string =>
    resolve(dirname(context.paths.config), expandTilde(folder, context.paths.home));
  const transforms =
    hooks?.transformsDir === undefined ? [] : [["hooks.transformsDir", beside(hooks.transformsDir)] as const];
  const extra = (hooks?.internal?.load?.extraDirs ?? []).map(
    (folder, index) => [`hooks.internal.load.extraDirs[${index}]`, expandHome(folder, context.paths.home)] as const,
  );
  return [...transforms, ...extra].flatMap(([path, folder]) =>
    codeFolder(context, path, folder, "hooks.writable-scripts").map((finding): Finding => ({
      ...finding,
      weight: "medium",
      what: `scripts in ${folder} do not run as they are: ${finding.what.replace(/^.*?, and /, "")}`,
    })),
  );
}

function changedScripts({ loaded, paths, env }: AuditContext): Finding[] {
  const rows = discoverHooks({ config: loaded.config, paths, env, bundled: bundledCards });
  return rows.flatMap(({ name, enabled, needsPin, problem, folder }): Finding[] => {
    if (!enabled || !needsPin || problem === undefined) return [];
    return [
      {
        id: "hooks.changed-script",
        weight: "medium",
        what: `hook ${name} in ${folder ?? "a workspace"} does not run: ${problem}`,
        why: "agents can write there, so it may differ from what you once read",
        where: at({ loaded }, `hooks.internal.entries.${name}`),
        fix: `openclaw hooks disable ${name}`,
      },
    ];
  });
}

/** What the sender of a webhook can choose. */
function senderFindings(context: AuditContext): Finding[] {
  const { allowRequestSessionKey, mappings = [] } = context.loaded.config.hooks ?? {};
  const paths = [
    ...(allowRequestSessionKey === true ? ["hooks.allowRequestSessionKey"] : []),
    ...mappings.flatMap(({ sessionKey }, index) =>
      sessionKey?.includes("{{") === true ? [`hooks.mappings[${index}].sessionKey`] : [],
    ),
  ];
  return paths.map((path) => ({
    id: "hooks.chosen-session",
    weight: "low",
    what: "the sender of a webhook chooses the session (below hook:) that it runs in",
    why: "it can read and write what other webhooks left there",
    where: at(context, path),
    fix: unsetKey(path),
  }));
}

function tokenFindings(context: AuditContext): Finding[] {
  const { hooks, gateway } = context.loaded.config;
  const token = hooks?.token ?? "";
  const fix = setKey("hooks.token", "$(openssl rand -hex 24)");
  const others = [
    sharedSecret(context.loaded.config, context.env).value,
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
        why: "whoever can send a webhook can then do everything",
        where: at(context, "hooks.token"),
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
      where: at(context, "hooks.token"),
      fix,
    },
  ];
}

function mappingFindings(context: AuditContext): Finding[] {
  const { mappings = [], gmail } = context.loaded.config.hooks ?? {};
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
    why: "anyone can write mails and tickets; without the untrusted marker the agent may follow their text as instructions",
    where: at(context, path),
    fix: unsetKey(path),
  }));
}

/** Code that runs inside the gateway must not be in a folder that agents or other users can write. */
export function codeFolder(context: AuditContext, path: string, folder: string, id: string): Finding[] {
  const { config } = context.loaded;
  const real = resolve(expandHome(folder, context.paths.home));
  const inWorkspace = agentIds(config).some((agent) => within(real, workspaceOf(config, agent, context.paths)));
  const isOpen = ((statOf(real)?.mode ?? 0) & 0o022) !== 0;
  if (!inWorkspace && !isOpen) return [];
  return [
    {
      id,
      weight: inWorkspace ? "critical" : "high",
      what: `code is loaded from ${real}, and ${inWorkspace ? "that is a workspace, where agents write" : "other users can write there"}`,
      why: "whoever can write there runs code inside the gateway",
      where: at(context, path),
      fix: inWorkspace ? unsetKey(path) : `chmod go-w ${real}`,
    },
  ];
}
