// The gateway tool: reads and changes the config, restarts and updates the gateway, through the Admin port.
import { ToolError } from "../../core/error.ts";
import type { SessionKey } from "../../core/names.ts";
import { isRecord } from "../../core/record.ts";
import { Type, type Static } from "../../core/schema.ts";
import { visible } from "../../core/visible.ts";
import { describeRoute } from "../../exec/describe-route.ts";
import type { Admin, AdminAnswer, AdminCaller } from "../admin.ts";
import { foldArguments } from "../fold-arguments.ts";
import { callRemote, remoteParameters, remoteUrl } from "../remote-gateway.ts";
import { subjectOf } from "../subject.ts";
import { defineTool, type ToolCall, type ToolResult } from "../tool.ts";

const actions = ["restart", "config.get", "config.schema", "config.apply", "config.patch", "update.run"] as const;
const text = (description: string) => Type.Optional(Type.String({ description }));
const milliseconds = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }));

const params = Type.Object(
  {
    action: Type.Enum([...actions], {
      type: "string",
      description:
        "Operation. config.schema: list known keys. config.patch: change keys. config.apply: replace the whole config. update.run: install the newest version.",
    }),
    path: text("config.get, config.schema: part to show, such as tools.exec (default: everything)."),
    raw: text(
      "config.patch: JSON5 merge patch, such as {ui:{assistant:{name:'Ada'}}}; null removes a key. config.apply: the complete config, in which __OPENCLAW_REDACTED__ keeps a secret.",
    ),
    baseHash: text("Hash from config.get; the change fails if the file has changed since."),
    reason: text("restart: reason for the log."),
    note: text("Message to you after the restart."),
    delayMs: milliseconds("Milliseconds until the restart (default 2000)."),
    sessionKey: text("Session that gets the note (default: this one)."),
    ...remoteParameters,
    timeoutMs: milliseconds("Milliseconds to wait for update.run or gatewayUrl."),
  },
  { additionalProperties: false },
);

type Arguments = Static<typeof params>;

export const createGatewayTool = (admin: () => Admin) =>
  defineTool({
    name: "gateway",
    summary: "Restart, configure or update this gateway",
    description:
      "Configure, restart or update this gateway, only when the owner asks. It restarts by itself when a change needs it. Changes of security settings need approval.",
    params,
    unrecorded: ["raw", "gatewayToken"],
    prepare: fold,
    intent: ({ action }) =>
      isLook(action) ? { does: "look" } : { does: "admin", what: visible(`gateway ${action}`, 100) },
    async run(args, call): Promise<ToolResult> {
      const { gatewayUrl, gatewayToken, timeoutMs, ...rest } = args;
      const url = remoteUrl(args, call);
      if (url !== undefined) return callRemote(url, { gatewayUrl, gatewayToken, timeoutMs }, "gateway", rest, call);
      return toResult(await perform(args, call, admin()));
    },
  });

/** Models send the patch as an object as often as in a string. */
function fold(given: Record<string, unknown>): Record<string, unknown> {
  const { raw, ...rest } = foldArguments(given, { restartDelayMs: "delayMs" });
  if (raw === undefined) return rest;
  return { ...rest, raw: isRecord(raw) ? JSON.stringify(raw) : raw };
}

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

/** The keys alone mislead: host=sandbox without a sandbox runs on the gateway host. */
function withPlace(answer: AdminAnswer, path: string | undefined, call: ToolCall): AdminAnswer {
  if (path !== undefined && !/^tools(?:\.exec|$)|sandbox/.test(path)) return answer;
  const { summary } = describeRoute(call.config, call.agent, call.sandboxed);
  return { ...answer, text: `${answer.text}\nCommands of this session run ${summary}.` };
}

const isLook = (action: Arguments["action"]): boolean => action === "config.get" || action === "config.schema";

function rawOf({ action, raw }: Arguments): string {
  if (raw !== undefined && raw.trim() !== "") return raw;
  throw new ToolError("gateway.missing-argument", `gateway: missing "raw"`, {
    hint: `${action} needs raw, as JSON5, such as {ui:{assistant:{name:'Ada'}}}`,
  });
}

/** The note may go to another session of the same agent, but not from a sandbox or a subagent. */
function callerOf({ sessionKey }: Arguments, call: ToolCall): AdminCaller {
  const { agent, session, turn, asker } = call;
  const tell: SessionKey | undefined =
    sessionKey === undefined ? undefined : subjectOf({ sessionKey, agentId: agent }, call.config).session;
  if (tell === undefined || tell === session) return { agent, session, turn, asker };
  if (!call.sandboxed && !call.subagent) return { agent, session, turn, asker, tell };
  throw new ToolError(
    "gateway.other-session",
    `gateway: sessionKey must be left out, because ${session} is sandboxed or a subagent`,
    {
      hint: "leave out sessionKey",
      details: { refused: true },
    },
  );
}

/** The note arrives as a System message; in another session it must not read as if the gateway wrote it. */
function signed(words: string | undefined, { session, tell }: AdminCaller): string | undefined {
  if (words === undefined || tell === undefined) return words;
  return `Note from the agent of ${session} (it grants no permission): ${words}`;
}

function toResult({ text, details }: AdminAnswer): ToolResult {
  return { content: [{ type: "text", text }], details };
}
