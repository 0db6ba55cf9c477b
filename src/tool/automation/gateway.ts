// gateway: restarts the gateway, reads and changes its config, updates it. A thin skin over the admin port.
import { ToolError } from "../../core/error.ts";
import type { SessionKey } from "../../core/names.ts";
import { checker, describeIssues, Type, type Static, type TObject } from "../../core/schema.ts";
import { visible } from "../../core/visible.ts";
import type { Admin, AdminAnswer, AdminCaller } from "../admin.ts";
import { callRemote, remoteUrl } from "../remote-gateway.ts";
import { subjectOf } from "../subject.ts";
import { defineTool, type ToolCall, type ToolResult } from "../tool.ts";

const actions = [
  "restart",
  "config.get",
  "config.schema",
  "config.apply",
  "config.patch",
  "update.run",
  "help",
] as const;
const word = Type.Optional(Type.String());
const count = Type.Optional(Type.Number({ minimum: 0 }));

const params = Type.Object(
  {
    action: Type.Enum([...actions], { type: "string" }),
    raw: word,
    more: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: "object" })),
  },
  { additionalProperties: false },
);

/** `help` tells of these and not the schema every model reads with every request; callers give them beside `action`. */
const rare = checker(
  Type.Object(
    {
      path: word,
      note: word,
      delayMs: count,
      baseHash: word,
      reason: word,
      sessionKey: word,
      timeoutMs: count,
      gatewayUrl: word,
      gatewayToken: word,
    },
    { additionalProperties: false },
  ),
);
type Rare = ReturnType<typeof rare.parse>;
const rareNames = Object.keys((rare.schema as TObject).properties);

type Arguments = Omit<Static<typeof params>, "more"> & Rare;

export const createGatewayTool = (admin: () => Admin) =>
  defineTool({
    name: "gateway",
    summary: "Restart, configure or update this gateway",
    description: "Ask help first; only when the user wants it.",
    params,
    unrecorded: ["raw", "more"],
    prepare: fold,
    intent: ({ action }) =>
      isLook(action) ? { does: "look" } : { does: "admin", what: visible(`gateway ${action}`, 100) },
    async run({ more, ...plain }, call): Promise<ToolResult> {
      const args: Arguments = { ...plain, ...rareOf(more) };
      const { gatewayUrl, gatewayToken, timeoutMs, ...rest } = args;
      const url = remoteUrl(args, call);
      if (url !== undefined) return callRemote(url, { gatewayUrl, gatewayToken, timeoutMs }, "gateway", rest, call);
      if (args.action === "help") return toResult({ text: (await import("./gateway-help.ts")).help, details: {} });
      return toResult(await perform(args.action, args, call, admin()));
    },
  });

function rareOf(more: unknown): Rare {
  if (more === undefined) return {};
  if (rare.is(more)) return more;
  throw new ToolError("tool.bad-arguments", `gateway: ${describeIssues(rare.issues(more).slice(0, 8))}`, {
    hint: "action help lists them",
  });
}

function perform(
  action: Exclude<Arguments["action"], "help">,
  args: Arguments,
  call: ToolCall,
  admin: Admin,
): Promise<AdminAnswer> {
  const { path, delayMs, timeoutMs, baseHash } = args;
  const caller = callerOf(args, call);
  const [note, reason] = [signed(args.note, caller), signed(args.reason, caller)];
  switch (action) {
    case "restart":
      return admin.restart({ delayMs, reason, note }, caller);
    case "config.get":
      return admin.configGet(path);
    case "config.schema":
      return admin.configSchema(path);
    case "config.apply":
    case "config.patch":
      return admin.change({ action, raw: rawOf(args), baseHash, note, delayMs, timeoutMs }, caller);
    case "update.run":
      return admin.update({ note, delayMs, timeoutMs, signal: call.signal }, caller);
  }
}

/** Other words for the same things, and the rare ones into their place. */
function fold(raw: Record<string, unknown>): Record<string, unknown> {
  const { restartDelayMs, more, ...given } = raw;
  const named = Object.entries(given).filter(([name]) => rareNames.includes(name));
  const rest = Object.entries(given).filter(([name]) => !rareNames.includes(name));
  const gathered: Record<string, unknown> = {
    ...(restartDelayMs === undefined ? {} : { delayMs: restartDelayMs }),
    ...(typeof more === "object" ? more : {}),
    ...Object.fromEntries(named),
  };
  return {
    ...Object.fromEntries(rest),
    ...(more !== undefined && typeof more !== "object" ? { more } : {}),
    ...(Object.keys(gathered).length === 0 ? {} : { more: gathered }),
  };
}

const isLook = (action: Arguments["action"]): boolean =>
  action === "config.get" || action === "config.schema" || action === "help";

function rawOf({ action, raw }: Arguments): string {
  if (raw !== undefined && raw.trim() !== "") return raw;
  throw new ToolError("gateway.missing-argument", `gateway: ${action} needs raw`, {
    hint: "raw is JSON5, such as {ui:{assistant:{name:'Ada'}}}",
  });
}

/** Another session is told only when it is one of the same agent, and not from behind a wall. */
function callerOf({ sessionKey }: Arguments, call: ToolCall): AdminCaller {
  const { agent, session, turn, asker } = call;
  const tell: SessionKey | undefined =
    sessionKey === undefined ? undefined : subjectOf({ sessionKey, agentId: agent }, call.config).session;
  if (tell === undefined || tell === session) return { agent, session, turn, asker };
  if (!call.sandboxed && !call.subagent) return { agent, session, turn, asker, tell };
  throw new ToolError("gateway.other-session", `gateway: ${session} may have nobody told but itself`, {
    hint: "leave out sessionKey",
    details: { refused: true },
  });
}

/** The house tells it in a System line: to another session it must not sound like the house itself. */
function signed(words: string | undefined, { session, tell }: AdminCaller): string | undefined {
  if (words === undefined || tell === undefined) return words;
  return `The agent of ${session} wrote, and it grants nothing: ${words}`;
}

function toResult({ text, details }: AdminAnswer): ToolResult {
  return { content: [{ type: "text", text }], details };
}
