// Agents of this gateway: create, change, remove, and the files that shape them.
import { Type } from "../../core/schema.ts";
import { closed, method, nonEmpty, optional, returns } from "../method.ts";

const named = { agentId: nonEmpty };

export const agentsCreate = method(
  "agents.create",
  "operator.admin",
  Type.Object(
    { name: nonEmpty, workspace: nonEmpty, emoji: optional(Type.String()), avatar: optional(Type.String()) },
    closed,
  ),
  returns<{ readonly ok: true; readonly agentId: string; readonly name: string; readonly workspace: string }>(),
);
export const agentsUpdate = method(
  "agents.update",
  "operator.admin",
  Type.Object(
    {
      ...named,
      name: optional(nonEmpty),
      workspace: optional(nonEmpty),
      model: optional(nonEmpty),
      avatar: optional(Type.String()),
    },
    closed,
  ),
  returns<{ readonly ok: true; readonly agentId: string }>(),
);
export const agentsDelete = method(
  "agents.delete",
  "operator.admin",
  Type.Object({ ...named, deleteFiles: optional(Type.Boolean()) }, closed),
  returns<{ readonly ok: true; readonly agentId: string; readonly removedBindings: number }>(),
);
export const agentsFilesList = method(
  "agents.files.list",
  "operator.admin",
  Type.Object(named, closed),
  returns<AgentFiles>(),
);
export const agentsFilesGet = method(
  "agents.files.get",
  "operator.admin",
  Type.Object({ ...named, name: nonEmpty }, closed),
  returns<AgentFile>(),
);
export const agentsFilesSet = method(
  "agents.files.set",
  "operator.admin",
  Type.Object({ ...named, name: nonEmpty, content: Type.String({ maxLength: 400_000 }) }, closed),
  returns<AgentFile & { readonly ok: true }>(),
);

interface FileFacts {
  readonly name: string;
  readonly path: string;
}

export type AgentFileFacts =
  | (FileFacts & { readonly missing: true })
  | (FileFacts & { readonly missing: false; readonly size: number; readonly updatedAtMs: number });

export interface AgentFiles {
  readonly agentId: string;
  readonly workspace: string;
  readonly files: readonly AgentFileFacts[];
}

export interface AgentFile {
  readonly agentId: string;
  readonly workspace: string;
  /** Without content when the file is missing. */
  readonly file: AgentFileFacts & { readonly content?: string };
}
