// Nodes over the wire: list, rename, invoke, results and events; and the approvals file of each node.
import { OpenClawError } from "../../core/error.ts";
import { parseStrict } from "../../core/strict-json.ts";
import { isRecord } from "../../core/record.ts";
import { newId } from "../../base/ids.ts";
import { requireInvokable } from "../../node/command-rules.ts";
import type { NodeLink, NodeRow } from "../../node/link.ts";
import { createNodes } from "../../node/nodes.ts";
import * as methods from "../../protocol/methods/nodes.ts";
import type { Turns } from "../../session/turns.ts";
import { eventFrame, type Client } from "../client.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";
import type { NodeMessages } from "../node-messages.ts";
import { runOnce } from "../run-once.ts";

const DEFAULT_INVOKE_MS = 30_000;
const LONGEST_INVOKE_MS = 24 * 3_600_000;
const APPROVALS_MS = 10_000;

export function nodeMethods(context: GatewayContext, turns: Pick<Turns, "post">): Served[] {
  const { devices, hub, clock, store, approvals, log } = context;
  let messages: NodeMessages | undefined;
  const nodes = context.nodes ?? createNodes();
  nodes.attach({
    links: () => [...hub.clients].flatMap(toLink),
    async paired() {
      const { paired } = await devices.list();
      return paired
        .filter(({ roles }) => roles.includes("node"))
        .map(({ deviceId, displayName, platform }) => ({
          nodeId: deviceId,
          ...(displayName === undefined ? {} : { displayName }),
          platform,
        }));
    },
  });

  const known = async (nodeId: string): Promise<NodeRow> => {
    const node = await nodes.get(nodeId);
    if (node === undefined) throw new OpenClawError("wire.invalid-request", "unknown nodeId");
    return node;
  };
  const approvalsFile = (nodeId: string, command: string, params: unknown): Promise<unknown> =>
    nodes.invoke(nodeId, command, params, { timeoutMs: APPROVALS_MS, idempotencyKey: newId() });

  return [
    serve(methods.nodeList)(async () => ({ ts: clock.now(), nodes: await nodes.list() })),
    serve(methods.nodeDescribe)(async ({ nodeId }) => ({ ts: clock.now(), ...(await known(nodeId)) })),
    serve(methods.nodeRename)(async ({ nodeId, displayName }) => {
      await known(nodeId);
      await devices.rename(nodeId, displayName);
      return { nodeId, displayName };
    }),
    serve(methods.nodeInvoke)(({ idempotencyKey, ...request }, client, signal) =>
      runOnce(
        context,
        `node.invoke:${client.deviceId ?? client.info.id}`,
        idempotencyKey,
        () => invoke({ idempotencyKey, ...request }, signal),
        inFlight,
      ),
    ),
    serve(methods.nodeInvokeResult)((answer, client) => {
      const { error, ...rest } = answer;
      const isKnown = nodes.answer(client.connId, {
        ...rest,
        ...(error === undefined || error === null ? {} : { error }),
      });
      return isKnown ? { ok: true } : { ok: true, ignored: true };
    }),
    serve(methods.nodeEvent)(async ({ event, payload, payloadJSON }, client) => {
      const facts = payloadJSON === undefined ? payload : parsed(payloadJSON);
      if (messageEvents.has(event)) return { ok: true, handled: true, ...(await hear(client, event, facts)) };
      nodes.report(client.deviceId ?? "", event, facts);
      return { ok: true };
    }),
    serve(methods.approvalsNodeGet)(({ nodeId }) => approvalsFile(nodeId, "system.execApprovals.get", {})),
    serve(methods.approvalsNodeSet)(({ nodeId, ...change }, client) => {
      log.info("changing the approvals file of a node", { nodeId, by: client.info.id });
      return approvalsFile(nodeId, "system.execApprovals.set", change);
    }),
  ];

  /** The sender is the connection's device; sender fields of the event are ignored. */
  async function hear(
    { deviceId, info }: Client,
    event: string,
    payload: unknown,
  ): Promise<{ readonly runId: string }> {
    if (deviceId === undefined) throw new OpenClawError("wire.invalid-request", "device identity required");
    const { createNodeMessages } = await import("../node-messages.ts");
    messages ??= createNodeMessages({ config: context.config, clock, store, turns });
    const name = (await nodes.get(deviceId))?.displayName ?? info.displayName ?? "";
    return messages.hear({ nodeId: deviceId, name }, event, payload);
  }

  async function invoke(request: InvokeRequest, signal: AbortSignal): Promise<methods.NodeInvokeResult> {
    const { nodeId, command, idempotencyKey } = request;
    requireInvokable(command, nodeId, context.config());
    const run = command === "system.run" ? await checkedRun(nodeId, request.params) : { params: request.params };
    const timeoutMs = Math.min(request.timeoutMs || DEFAULT_INVOKE_MS, LONGEST_INVOKE_MS);
    try {
      const payload = await nodes.invoke(nodeId, command, run.params, { timeoutMs, idempotencyKey, signal });
      return { ok: true, nodeId, command, payload, payloadJSON: JSON.stringify(payload) };
    } finally {
      if (run.approvalId !== undefined) await approvals.finish(run.approvalId);
    }
  }

  /** Gives every run an id, so that forged reports are detected; a claimed approval must be on record. */
  async function checkedRun(
    nodeId: string,
    raw: unknown,
  ): Promise<{ readonly params: unknown; readonly approvalId?: string }> {
    if (!isRecord(raw)) return { params: raw };
    const { approved, approvalDecision, plan: _claimed, runId: given, ...rest } = raw;
    const { decisionFor, grantForRun, planFor, requireMatchingText } = await import("../../node/grant-for-run.ts");
    requireMatchingText(rest);
    const runId = typeof given === "string" && given !== "" ? given : newId();
    if (approved !== true && (approvalDecision === undefined || approvalDecision === null))
      return { params: { ...rest, runId, approved: false } };
    const grant = grantForRun(rest, approvals.grants());
    if (grant === undefined || !(await approvals.begin(grant.id))) throw notOnRecord();
    return {
      params: {
        ...rest,
        runId,
        approved: true,
        approvalDecision: decisionFor(rest, grant),
        plan: planFor(nodeId, rest, grant),
      },
      approvalId: grant.id,
    };
  }
}

/** Events that carry a message for an agent; their handler is loaded with the first one. */
const messageEvents: ReadonlySet<string> = new Set(["voice.transcript", "agent.request"]);

interface InvokeRequest {
  readonly nodeId: string;
  readonly command: string;
  readonly params?: unknown;
  readonly timeoutMs?: number;
  readonly idempotencyKey: string;
}

function toLink(client: Client): NodeLink[] {
  const { role, deviceId, info, permissions, pathEnv } = client;
  if (role !== "node" || deviceId === undefined) return [];
  return [
    {
      connId: client.connId,
      nodeId: deviceId,
      ...(info.displayName === undefined ? {} : { displayName: info.displayName }),
      platform: info.platform,
      version: info.version,
      ...(info.deviceFamily === undefined ? {} : { deviceFamily: info.deviceFamily }),
      ...(info.modelIdentifier === undefined ? {} : { modelIdentifier: info.modelIdentifier }),
      caps: client.caps,
      commands: client.commands,
      ...(permissions === undefined ? {} : { permissions }),
      ...(pathEnv === undefined ? {} : { pathEnv }),
      ...(client.local ? {} : { remoteIp: client.address }),
      connectedAtMs: client.connectedAt,
      gone: client.gone,
      // Without a sequence number, as recorded: only this node gets it.
      send: (event, payload) => client.send(eventFrame(event, JSON.stringify(payload))),
    },
  ];
}

function parsed(text: string): unknown {
  try {
    return parseStrict(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof OpenClawError)
      throw new OpenClawError("wire.invalid-request", "invalid node.event params: payloadJSON is not valid JSON");
    throw error;
  }
}

function notOnRecord(): OpenClawError {
  return new OpenClawError(
    "node.not-approved",
    "SYSTEM_RUN_DENIED: approval required (this exact command has no approval, or its approval was used)",
    {
      hint: "request approval with exec.approval.request for the same command, folder, agent and session",
      details: { refused: true },
    },
  );
}

function inFlight(): OpenClawError {
  return new OpenClawError("node.in-flight", "a request with this idempotencyKey is still running or has failed", {
    hint: "use a new idempotencyKey to try again",
  });
}
