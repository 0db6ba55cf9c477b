// Sessions and agents as clients see them.
import { Type } from "../../core/schema.ts";
import { closed, maybe, method, none, word } from "../method.ts";

const label = Type.String({ minLength: 1, maxLength: 64 });
const orNull = (schema: ReturnType<typeof Type.String>) => maybe(Type.Union([schema, Type.Null()]));
const oneOf = (...words: string[]) => maybe(Type.Union([...words.map((entry) => Type.Literal(entry)), Type.Null()]));

export const sessionsList = method(
  "sessions.list",
  "operator.read",
  Type.Object(
    {
      limit: maybe(Type.Integer({ minimum: 1 })),
      activeMinutes: maybe(Type.Integer({ minimum: 1 })),
      agentId: maybe(word),
      label: maybe(label),
      search: maybe(Type.String()),
      spawnedBy: maybe(word),
      includeGlobal: maybe(Type.Boolean()),
      includeUnknown: maybe(Type.Boolean()),
      includeDerivedTitles: maybe(Type.Boolean()),
      includeLastMessage: maybe(Type.Boolean()),
    },
    closed,
  ),
);

export const sessionsPreview = method(
  "sessions.preview",
  "operator.read",
  Type.Object(
    {
      keys: Type.Array(word, { minItems: 1, maxItems: 200 }),
      limit: maybe(Type.Integer({ minimum: 1 })),
      maxChars: maybe(Type.Integer({ minimum: 20 })),
    },
    closed,
  ),
);

export const sessionsResolve = method(
  "sessions.resolve",
  "operator.admin",
  Type.Object(
    {
      key: maybe(word),
      sessionId: maybe(word),
      label: maybe(label),
      agentId: maybe(word),
      spawnedBy: maybe(word),
      includeGlobal: maybe(Type.Boolean()),
      includeUnknown: maybe(Type.Boolean()),
    },
    closed,
  ),
  { announced: false },
);

export const sessionsPatch = method(
  "sessions.patch",
  "operator.admin",
  Type.Object(
    {
      key: word,
      label: orNull(label),
      thinkingLevel: orNull(word),
      verboseLevel: orNull(word),
      reasoningLevel: orNull(word),
      elevatedLevel: orNull(word),
      responseUsage: oneOf("off", "on", "full", "tokens"),
      sendPolicy: oneOf("allow", "deny"),
      groupActivation: oneOf("mention", "always"),
      model: orNull(word),
      spawnedBy: orNull(word),
      execHost: orNull(word),
      execSecurity: orNull(word),
      execAsk: orNull(word),
      execNode: orNull(word),
    },
    closed,
  ),
);

export const sessionsReset = method("sessions.reset", "operator.admin", Type.Object({ key: word }, closed));
export const sessionsDelete = method(
  "sessions.delete",
  "operator.admin",
  Type.Object({ key: word, deleteTranscript: maybe(Type.Boolean()) }, closed),
);

export const chatHistory = method(
  "chat.history",
  "operator.read",
  Type.Object({ sessionKey: word, limit: maybe(Type.Integer({ minimum: 1, maximum: 1000 })) }, closed),
);

export const agentsList = method("agents.list", "operator.read", none);
export const agentIdentityGet = method(
  "agent.identity.get",
  "operator.read",
  Type.Object({ agentId: maybe(word), sessionKey: maybe(Type.String()) }, closed),
);

export const chatInject = method(
  "chat.inject",
  "operator.admin",
  Type.Object({ sessionKey: word, message: word, label: maybe(Type.String({ maxLength: 100 })) }, closed),
  { announced: false },
);
