// Ours: the tools of an agent with the decision of each, one decision explained, one tool called, the journal read.
import { Type } from "../../core/schema.ts";
import { closed, maybe, method, word } from "../method.ts";

const who = { agentId: maybe(word), model: maybe(word), sessionKey: maybe(word) };
const where = {
  channel: maybe(word),
  accountId: maybe(word),
  groupId: maybe(word),
  guildId: maybe(word),
  teamId: maybe(word),
  sender: maybe(word),
};

export const toolsCatalog = method("tools.catalog", "operator.read", Type.Object(who, closed));
export const toolsExplain = method(
  "tools.explain",
  "operator.read",
  Type.Object({ tool: word, ...who, ...where, sandboxed: maybe(Type.Boolean()) }, closed),
);
export const toolsInvoke = method(
  "tools.invoke",
  "operator.write",
  Type.Object(
    { tool: word, args: maybe(Type.Record(Type.String(), Type.Unknown())), ...who, idempotencyKey: maybe(word) },
    closed,
  ),
);
export const toolsJournal = method(
  "tools.journal",
  "operator.read",
  Type.Object(
    {
      limit: maybe(Type.Integer({ minimum: 1, maximum: 1000 })),
      tool: maybe(word),
      sessionKey: maybe(word),
      outcome: maybe(
        Type.Union(["started", "ok", "error", "refused", "aborted", "unknown"].map((entry) => Type.Literal(entry))),
      ),
    },
    closed,
  ),
);
