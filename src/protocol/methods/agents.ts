// Agents of this gateway: made, changed, removed, and the files that shape them.
import { Type } from "../../core/schema.ts";
import { closed, maybe, method, word } from "../method.ts";

const named = { agentId: word };

export const agentsCreate = method(
  "agents.create",
  "operator.admin",
  Type.Object({ name: word, workspace: word, emoji: maybe(Type.String()), avatar: maybe(Type.String()) }, closed),
);
export const agentsUpdate = method(
  "agents.update",
  "operator.admin",
  Type.Object(
    { ...named, name: maybe(word), workspace: maybe(word), model: maybe(word), avatar: maybe(Type.String()) },
    closed,
  ),
);
export const agentsDelete = method(
  "agents.delete",
  "operator.admin",
  Type.Object({ ...named, deleteFiles: maybe(Type.Boolean()) }, closed),
);
export const agentsFilesList = method("agents.files.list", "operator.admin", Type.Object(named, closed));
export const agentsFilesGet = method(
  "agents.files.get",
  "operator.admin",
  Type.Object({ ...named, name: word }, closed),
);
export const agentsFilesSet = method(
  "agents.files.set",
  "operator.admin",
  Type.Object({ ...named, name: word, content: Type.String({ maxLength: 400_000 }) }, closed),
);
