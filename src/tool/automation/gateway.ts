// gateway: restarts the gateway, reads and changes its config, updates it. A thin skin over the admin port.
import { ToolError } from "../../core/error.ts";
import type { SessionKey } from "../../core/names.ts";
import { Type, type Static } from "../../core/schema.ts";
import { visible } from "../../core/visible.ts";
import { describeRoute } from "../../exec/describe-route.ts";
import type { Admin, AdminAnswer, AdminCaller } from "../admin.ts";
import { foldArguments } from "../fold-arguments.ts";
import { callRemote, remoteUrl } from "../remote-gateway.ts";
import { subjectOf } from "../subject.ts";
import { defineTool, type ToolCall, type ToolResult } from "../tool.ts";

const actions = ["restart", "config.get", "config.schema", "config.apply", "config.patch", "update.run"] as const;
const word = (description: string) => Type.Optional(Type.String({ description }));
const milliseconds = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }));

const params = Type.Object(
  {
    action: Type.Enum([...actions], { type: "string" }),
    path: word("config.get, config.schema: one part, such as tools.exec; default: everything."),
    raw: word(
      "config.patch: JSON5 merge patch, such as {ui:{assistant:{name:'Ada'}}}; null removes a key, lists are replaced. config.apply: the whole new config.",
    ),
    baseHash: word("config.apply, config.patch: hash from config.get; refused when the file has changed since."),
    reason: word("restart: why, for the log."),
    note: word("Told to you after the restart."),
    delayMs: milliseconds("Milliseconds before the restart, so that your reply gets out; default 2000."),
    sessionKey: word("Session that gets the note; default: this one."),
    timeoutMs: milliseconds("Milliseconds that update.run or gatewayUrl may take."),
    gatewayUrl: word("Another gateway; needs gatewayToken."),
    gatewayToken: word("Token of gatewayUrl."),
  },
  { additionalProperties: false },
);

type Arguments = Static<typeof params>;

export const createGatewayTool = (admin: () => Admin) =>
  defineTool({
    name: "gateway",
    summary: "Restart, configure or update this gateway",
    description:
      "Read and change the config of this gateway, restart it or update it. Only when the user asks. Config changes restart it where needed. A change that touches security waits for the owner's approval: you get approval-pending and the answer later as a System line; do not repeat it. Secrets show as __OPENCLAW_REDACTED__; sent back, they stay as they are.",
    params,
    unrecorded: ["raw", "gatewayToken"],
    prepare: (raw) => foldArguments(raw, { restartDelayMs: "delayMs" }),
    intent: ({ action }) =>
      isLook(action) ? { does: "look" } : { does: "admin", what: visible(`gateway ${action}`, 100) },
    async run(args, call): Promise<ToolResult> {
      const { gatewayUrl, gatewayToken, timeoutMs, ...rest } = args;
      const url = remoteUrl(args, call);
      if (url !== undefined) return callRemote(url, { gatewayUrl, gatewayToken, timeoutMs }, "gateway", rest, call);
      return toResult(await perform(args, call, admin()));
    },
  });

async function perform(args: Arguments, call: ToolCall, admin: Admin): Promise<AdminAnswer> {
  const { action, path, delayMs, timeoutMs, baseHash } = args;
  const caller = callerOf(args, call);
  const [note, reason] = [signed(args.note, caller), signed(args.reason, caller)];
  switch (action) {
    case "restart":
      return admin.restart({ delayMs, reason, note }, caller);
    case "config.get":
      return withPlace(await admin.configGet(path), path, call);
    case "config.schema":
      return admin.configSchema(path);
    case "config.apply":
    case "config.patch":
      return admin.change({ action, raw: rawOf(args), baseHash, note, delayMs, timeoutMs }, caller);
    case "update.run":
      return admin.update({ note, delayMs, timeoutMs, signal: call.signal }, caller);
  }
}

/** The keys alone mislead: host=sandbox without a sandbox means the gateway host. */
function withPlace(answer: AdminAnswer, path: string | undefined, call: ToolCall): AdminAnswer {
  if (path !== undefined && !/^tools(?:\.exec|$)|sandbox/.test(path)) return answer;
  const { summary } = describeRoute(call.config, call.agent, call.sandboxed);
  return { ...answer, text: `${answer.text}\nCommands of this session run ${summary}.` };
}

const isLook = (action: Arguments["action"]): boolean => action === "config.get" || action === "config.schema";

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
