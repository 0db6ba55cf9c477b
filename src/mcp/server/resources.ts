// Reads resources and follows their changes, for clients with a session and for clients without one.
import { isRecord } from "../../core/record.ts";
import { META, refusal, RPC, type RpcAnswer } from "../message.ts";
import { followChanges, watchResource, type ChangeFilter } from "./changes.ts";
import type { McpCaller } from "./exchange.ts";
import type { MethodCall } from "./method-call.ts";
import { userOf, type ServerParts } from "./parts.ts";
import type { McpUser } from "./registry.ts";
import type { McpSession } from "./session.ts";
import type { ResumableStream } from "./stream.ts";

const MAX_SUBSCRIPTIONS = 64;

export async function readResource(call: MethodCall): Promise<RpcAnswer> {
  const { uri } = call.params;
  if (typeof uri !== "string") return call.bad("resources/read needs a uri");
  const user = await call.user();
  for (const provider of call.parts.resources) {
    const contents = await provider.read(uri, user);
    if (contents !== undefined && contents.length > 0) return call.uncached({ contents });
  }
  const code = call.isStateless ? RPC.badParams : RPC.unknownResource;
  return refusal(200, code, "there is no such resource for this session", call.request.id, { uri });
}

/** resources/subscribe and resources/unsubscribe. */
export async function subscribe(call: MethodCall): Promise<RpcAnswer> {
  const { method } = call.request;
  const { session } = call.exchange;
  const { uri } = call.params;
  if (typeof uri !== "string") return call.bad(`${method} needs a uri`);
  if (session === undefined) return call.bad(`${method} needs the session that initialize opened`);
  if (method === "resources/unsubscribe") session.subscriptions.delete(uri);
  else {
    if (session.subscriptions.size >= MAX_SUBSCRIPTIONS) return call.bad(`at most ${MAX_SUBSCRIPTIONS} subscriptions`);
    if (!canWatch(uri, await call.user(), call.parts))
      return call.bad("this resource does not exist or cannot be watched");
    session.subscriptions.add(uri);
  }
  session.resubscribe?.();
  return call.done({});
}

/** subscriptions/listen: lasts until the client closes the stream. */
export async function listenForChanges(call: MethodCall): Promise<RpcAnswer> {
  const { exchange, parts } = call;
  const { id } = call.request;
  const wanted = call.params["notifications"];
  if (!isRecord(wanted)) return call.bad("subscriptions/listen needs notifications");
  if (!exchange.canSend) return refusal(406, RPC.invalid, "subscriptions/listen needs accept: text/event-stream", id);
  const filter = filterOf(wanted, await call.user(), parts);
  const tag = { [`${META}subscriptionId`]: id };
  const notify = (method: string, more: object): void =>
    exchange.send({ jsonrpc: "2.0", method, params: { ...more, _meta: tag } });
  const stop = await followChanges(filter, () => call.user(), notify, parts.changes);
  notify("notifications/subscriptions/acknowledged", {
    notifications: {
      ...(filter.tools ? { toolsListChanged: true } : {}),
      ...(filter.prompts ? { promptsListChanged: true } : {}),
      ...(filter.uris.length > 0 ? { resourceSubscriptions: filter.uris } : {}),
    },
  });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  parts.waiting.add(end);
  await Promise.race([ended, aborted(exchange.signal)]);
  parts.waiting.delete(end);
  stop();
  return call.done({ _meta: tag });
}

function filterOf(wanted: Readonly<Record<string, unknown>>, user: McpUser, parts: ServerParts): ChangeFilter {
  const listed: unknown[] = Array.isArray(wanted["resourceSubscriptions"]) ? wanted["resourceSubscriptions"] : [];
  return {
    tools: wanted["toolsListChanged"] === true,
    prompts: wanted["promptsListChanged"] === true && parts.prompts.length > 0,
    uris: listed
      .filter((uri) => typeof uri === "string")
      .slice(0, MAX_SUBSCRIPTIONS)
      .filter((uri) => canWatch(uri, user, parts)),
  };
}

function canWatch(uri: string, user: McpUser, { resources }: ServerParts): boolean {
  const stop = watchResource(uri, user, () => {}, resources);
  stop?.();
  return stop !== undefined;
}

/** Notifies the standalone stream of a session, only while it is open: files are not watched without a reader. */
export async function notifySession(
  session: McpSession,
  stream: ResumableStream,
  caller: McpCaller,
  { ports, changes }: ServerParts,
): Promise<void> {
  const user = (): Promise<McpUser> => userOf({ caller, signal: caller.gone }, ports);
  const notify = (method: string, params: object): void => stream.send({ jsonrpc: "2.0", method, params });
  let stop: (() => void) | undefined;
  let last = Promise.resolve();
  const follow = (isOpen: boolean): void => {
    last = last.then(async () => {
      stop?.();
      stop = undefined;
      if (!isOpen || caller.gone.aborted) return;
      const filter = { tools: true, prompts: true, uris: [...session.subscriptions] };
      stop = await followChanges(filter, user, notify, changes);
    });
    last.catch((error: unknown) => ports.log.warn("an MCP client could not be notified of changes", { error }));
  };
  session.resubscribe = () => follow(true);
  caller.gone.addEventListener("abort", () => follow(false), { once: true });
  follow(true);
  await last;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
