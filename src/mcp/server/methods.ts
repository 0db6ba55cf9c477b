// The methods of the protocol: each with its handler and, where only some revisions have it, the way they are agreed on.
import { isRecord } from "../../core/record.ts";
import { HANDSHAKE_REVISIONS, STATELESS_REVISIONS, type RpcAnswer } from "../message.ts";
import { complete } from "./completion.ts";
import { parseLogLevel } from "./log-level.ts";
import { UNCACHED, type MethodCall } from "./method-call.ts";
import { getPrompt } from "./prompts.ts";
import { collect } from "./registry.ts";
import { listenForChanges, readResource, subscribe } from "./resources.ts";
import { answerInRounds, askApproval } from "./rounds.ts";
import { answerCall, listTools } from "./tools.ts";

interface Method {
  /** Absent: in every revision. */
  readonly only?: "handshake" | "stateless";
  answer(call: MethodCall): RpcAnswer | Promise<RpcAnswer>;
}

export async function answerMethod(call: MethodCall): Promise<RpcAnswer> {
  const method = Object.hasOwn(methods, call.request.method) ? methods[call.request.method] : undefined;
  if (method === undefined || method.only === (call.isStateless ? "handshake" : "stateless")) return call.unknown();
  if (call.request.method.startsWith("prompts/") && call.parts.prompts.length === 0) return call.unknown();
  return method.answer(call);
}

const methods: Readonly<Record<string, Method>> = {
  initialize: { only: "handshake", answer: initialize },
  ping: { only: "handshake", answer: (call) => call.done({}) },
  "server/discover": {
    only: "stateless",
    answer: (call) =>
      call.done({
        supportedVersions: [...STATELESS_REVISIONS, ...HANDSHAKE_REVISIONS],
        capabilities: call.parts.capabilities,
        ...UNCACHED,
      }),
  },
  "logging/setLevel": { only: "handshake", answer: setLogLevel },
  "tools/list": {
    async answer(call) {
      const { subject } = await call.exchange.caller.subject();
      await call.parts.ports.catalog.prepare();
      return call.list({ tools: listTools(subject, call.parts.ports) });
    },
  },
  "tools/call": {
    answer: (call) =>
      answerInRounds(call, async (link, state) => {
        const { request, exchange, parts } = call;
        const called = await answerCall({ request, exchange, link, state, ports: parts.ports });
        if ("answer" in called) return called.answer;
        return "result" in called ? call.done(called.result) : askApproval(call, called.approval);
      }),
  },
  "resources/list": {
    async answer(call) {
      const user = await call.user();
      return call.list({ resources: await collect(call.parts.resources, (provider) => provider.list(user)) });
    },
  },
  "resources/templates/list": {
    async answer(call) {
      const user = await call.user();
      return call.list({ resourceTemplates: call.parts.resources.flatMap((provider) => provider.templates(user)) });
    },
  },
  "resources/read": { answer: readResource },
  "resources/subscribe": { only: "handshake", answer: subscribe },
  "resources/unsubscribe": { only: "handshake", answer: subscribe },
  "subscriptions/listen": { only: "stateless", answer: listenForChanges },
  "prompts/list": {
    async answer(call) {
      const user = await call.user();
      return call.list({ prompts: await collect(call.parts.prompts, (provider) => provider.list(user)) });
    },
  },
  "prompts/get": { answer: (call) => answerInRounds(call, (link) => getPrompt(call, link)) },
  "completion/complete": { answer: complete },
};

function initialize(call: MethodCall): RpcAnswer {
  const { params, parts, exchange } = call;
  const protocolVersion =
    HANDSHAKE_REVISIONS.find((known) => known === params["protocolVersion"]) ?? HANDSHAKE_REVISIONS[0];
  const declared = isRecord(params["capabilities"]) ? params["capabilities"] : {};
  const session = parts.sessions.open({ isLocal: exchange.caller.isLocal, capabilities: declared });
  const capabilities = { ...parts.capabilities, logging: {} };
  return { ...call.done({ protocolVersion, capabilities, serverInfo: parts.serverInfo }), sessionId: session.id };
}

function setLogLevel(call: MethodCall): RpcAnswer {
  const level = parseLogLevel(call.params["level"]);
  if (level === undefined) return call.bad("logging/setLevel needs a level: debug, info, notice, warning, error …");
  const { session } = call.exchange;
  if (session === undefined) return call.bad("logging/setLevel needs the session that initialize opened");
  session.logLevel = level;
  return call.done({});
}
