// Creates, changes and removes agents by config edits that keep comments; reads and writes their files in the workspace.
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { parseAgentId, type AgentId } from "../../core/names.ts";
import { openRoot } from "../../base/rooted-fs.ts";
import * as methods from "../../protocol/methods/agents.ts";
import { agentConfig, agentIds, defaultAgentId, workspaceOf } from "../../config/agents.ts";
import type { Edit } from "../../config/edit.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";

const fileNames = [
  "AGENTS.md",
  "SOUL.md",
  "TOOLS.md",
  "IDENTITY.md",
  "USER.md",
  "HEARTBEAT.md",
  "BOOTSTRAP.md",
  "MEMORY.md",
];
const MAX_FILE = 400_000;

export function agentMethods(context: GatewayContext): Served[] {
  const { clock, paths } = context;
  const known = (raw: string): AgentId => subjectOf({ agentId: raw }, context.config()).agent;
  const workspace = (id: AgentId): string => workspaceOf(context.config(), id, paths);

  return [
    serve(methods.agentsCreate)(async ({ name, workspace: folder, emoji, avatar }) => {
      const config = context.config();
      const agentId = parseAgentId(
        name
          .trim()
          .toLowerCase()
          .replaceAll(/[^a-z0-9_-]+/g, "-")
          .replaceAll(/^-+|-+$/g, ""),
      );
      if (agentIds(config).includes(agentId))
        throw new OpenClawError("agent.exists", `agent "${agentId}" already exists`, { hint: "choose another name" });
      const identity = { ...(emoji === undefined ? {} : { emoji }), ...(avatar === undefined ? {} : { avatar }) };
      const entry = {
        id: agentId,
        name,
        workspace: folder,
        ...(Object.keys(identity).length === 0 ? {} : { identity }),
      };
      const list = config.agents?.list ?? [];
      // Without a list the agent `main` exists; it must stay the default when the list is created.
      const edits: Edit[] =
        list.length === 0
          ? [{ path: "agents.list", value: [{ id: defaultAgentId(config) }, entry] }]
          : [{ path: `agents.list[${list.length}]`, value: entry }];
      await change(context, edits);
      return { ok: true, agentId, name, workspace: workspace(agentId) };
    }),
    serve(methods.agentsUpdate)(async ({ agentId: raw, name, workspace: folder, model, avatar }) => {
      const agentId = known(raw);
      const at = indexOf(context, agentId);
      const fields = { name, workspace: folder, model, "identity.avatar": avatar };
      const edits = Object.entries(fields).flatMap(([field, value]): Edit[] =>
        value === undefined ? [] : [{ path: `agents.list[${at}].${field}`, value }],
      );
      await change(context, edits);
      return { ok: true, agentId };
    }),
    serve(methods.agentsDelete)(async ({ agentId: raw, deleteFiles = false }) => {
      const agentId = known(raw);
      if (agentId === "main" || agentId === defaultAgentId(context.config()))
        throw new OpenClawError("agent.main", `"${agentId}" cannot be deleted`, { hint: "it is the default agent" });
      const folder = workspace(agentId);
      const bindings = context.config().bindings ?? [];
      const kept = bindings.filter((binding) => binding.agentId !== agentId);
      await change(context, [
        { path: `agents.list[${indexOf(context, agentId)}]`, remove: true },
        ...(kept.length === bindings.length ? [] : [{ path: "bindings", value: kept } satisfies Edit]),
      ]);
      if (deleteFiles) moveToTrash(folder, join(paths.state, "trash"), clock.now());
      return { ok: true, agentId, removedBindings: bindings.length - kept.length };
    }),
    serve(methods.agentsFilesList)(async ({ agentId: raw }) => {
      const agentId = known(raw);
      return {
        agentId,
        workspace: workspace(agentId),
        files: await Promise.all(fileNames.map((name) => factsOf(workspace(agentId), name))),
      };
    }),
    serve(methods.agentsFilesGet)(async ({ agentId: raw, name }) => {
      const agentId = known(raw);
      return { agentId, workspace: workspace(agentId), file: await readFile(workspace(agentId), checkedName(name)) };
    }),
    serve(methods.agentsFilesSet)(async ({ agentId: raw, name, content }) => {
      const agentId = known(raw);
      const folder = workspace(agentId);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const root = await openRoot({ root: folder });
      try {
        await root.write(checkedName(name), Buffer.from(content, "utf8"), {});
      } finally {
        root.close();
      }
      return { ok: true, agentId, workspace: folder, file: await readFile(folder, name) };
    }),
  ];
}

async function change(context: GatewayContext, edits: readonly Edit[]): Promise<void> {
  const { editConfig } = await import("../../config/change.ts");
  editConfig(context, () => edits);
  context.applyConfigFile();
}

function indexOf(context: GatewayContext, id: AgentId): number {
  const config = context.config();
  const entry = agentConfig(config, id);
  const at = entry === undefined ? -1 : (config.agents?.list ?? []).indexOf(entry);
  if (at >= 0) return at;
  throw new OpenClawError("agent.implicit", `agent "${id}" has no entry in agents.list`, {
    hint: `openclaw config set agents.list '[{ id: "${id}" }]'`,
  });
}

/** Moves the folder to the trash of the state folder instead of deleting it (docs/decisions/0047-deleted-agents-keep-files.md). */
function moveToTrash(folder: string, trash: string, now: number): void {
  mkdirSync(trash, { recursive: true, mode: 0o700 });
  try {
    renameSync(folder, join(trash, `${basename(folder)}-${now}`));
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return; // the agent has no folder
    throw new OpenClawError("agent.files", `could not move ${folder} to the trash`, {
      cause,
      hint: `remove it by hand: ${folder}`,
    });
  }
}

function checkedName(name: string): string {
  if (fileNames.includes(name)) return name;
  throw new OpenClawError("agent.bad-file", `unsupported file "${name}"`, { hint: `one of ${fileNames.join(", ")}` });
}

async function factsOf(folder: string, name: string): Promise<methods.AgentFileFacts> {
  const path = join(folder, name);
  if (!existsSync(folder)) return { name, path, missing: true };
  const root = await openRoot({ root: folder });
  try {
    const facts = await root.stat(name);
    if (facts === undefined) return { name, path, missing: true };
    return { name, path, missing: false, size: facts.size, updatedAtMs: Math.round(facts.modifiedMs) };
  } finally {
    root.close();
  }
}

async function readFile(folder: string, name: string): Promise<methods.AgentFile["file"]> {
  const facts = await factsOf(folder, name);
  if (facts.missing) return facts;
  const root = await openRoot({ root: folder });
  try {
    const { bytes } = await root.read(name, { maxBytes: MAX_FILE });
    return { ...facts, content: bytes.toString("utf8") };
  } finally {
    root.close();
  }
}
