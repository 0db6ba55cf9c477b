// Serves one connection of a node: one answer per request; canceling or losing the connection ends its commands.
import { OpenClawError } from "../../core/error.ts";
import { parseStrict } from "../../core/strict-json.ts";
import { checker, Type } from "../../core/schema.ts";
import type { Log } from "../../base/log.ts";
import type { Command } from "./commands.ts";
import { fitFrame, isTooLong } from "./fit-frame.ts";
import type { RunCall } from "./run.ts";
import type { HostWire } from "./wire-port.ts";

export interface ServeDeps {
  readonly wire: HostWire;
  readonly nodeId: string;
  readonly commands: Readonly<Record<string, Command>>;
  /** The longest frame the gateway accepts. */
  readonly maxFrameBytes: number;
  readonly log: Log;
}

const ANSWER_MS = 30_000;

const invokeRequest = checker(
  Type.Object({
    id: Type.String({ minLength: 1 }),
    nodeId: Type.String(),
    command: Type.String(),
    paramsJSON: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    params: Type.Optional(Type.Unknown()),
    timeoutMs: Type.Optional(Type.Number({ minimum: 0 })),
  }),
);

/** Serves until `close`, which resolves when every command of this connection has ended. */
export function serve(deps: ServeDeps): { close(): Promise<void> } {
  const { wire, nodeId, log } = deps;
  const live = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>();

  const stopListening = wire.onEvent((event, payload) => {
    if (event === "node.invoke.cancel") return live.get(canceledId(payload))?.stop.abort();
    if (event !== "node.invoke.request" || !invokeRequest.is(payload) || payload.nodeId !== nodeId) return;
    const { id } = payload;
    if (live.has(id)) return;
    const stop = new AbortController();
    const done = answer(deps, payload, stop.signal)
      .catch((error: unknown) => log.warn("could not send an answer to the gateway", { id, error }))
      .finally(() => live.delete(id));
    live.set(id, { stop, done });
  });

  return {
    async close() {
      stopListening();
      for (const { stop } of live.values()) stop.abort();
      await Promise.all([...live.values()].map(({ done }) => done));
    },
  };
}

interface InvokeRequest {
  readonly id: string;
  readonly command: string;
  readonly paramsJSON?: string | null;
  readonly params?: unknown;
  readonly timeoutMs?: number;
}

async function answer(
  { wire, nodeId, commands, maxFrameBytes, log }: ServeDeps,
  request: InvokeRequest,
  signal: AbortSignal,
) {
  const { id, command } = request;
  const report: RunCall["report"] = (event, payload) => {
    if (typeof payload["sessionKey"] !== "string") return;
    // A failure is only logged, since the answer carries the same result.
    wire
      .request("node.event", { event, payloadJSON: JSON.stringify(payload) }, ANSWER_MS)
      .catch((error: unknown) => log.debug("could not send a report to the gateway", { event, error }));
  };
  const outcome = await attempt(request, commands, { deadlineMs: request.timeoutMs, signal, report }, log);
  const fitted = fitFrame({ id, nodeId, ...outcome }, maxFrameBytes);
  // The gateway closes the connection for a longer frame.
  const params = isTooLong(fitted, maxFrameBytes) ? { id, nodeId, ...tooLong } : fitted;
  const { ok } = await wire.request("node.invoke.result", params, ANSWER_MS);
  if (!ok) log.warn("the gateway rejected an answer", { id, command });
}

type Outcome =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

async function attempt(
  { command, paramsJSON, params }: InvokeRequest,
  commands: Readonly<Record<string, Command>>,
  call: RunCall,
  log: Log,
): Promise<Outcome> {
  try {
    const perform = Object.hasOwn(commands, command) ? commands[command] : undefined;
    if (perform === undefined) return failed("INVALID_REQUEST", `this node does not offer ${command.slice(0, 100)}`);
    const given = typeof paramsJSON === "string" ? parseStrict(paramsJSON) : (params ?? {});
    return { ok: true, payload: await perform(given, call) };
  } catch (error) {
    if (call.signal.aborted) return failed("UNAVAILABLE", "ended: the request was canceled");
    if (error instanceof SyntaxError) return failed("INVALID_REQUEST", "paramsJSON is not valid JSON");
    if (!(error instanceof OpenClawError)) {
      log.error("a request failed unexpectedly", { command, error });
      return failed("UNAVAILABLE", "the node failed; see its log for the reason");
    }
    if (error.code.startsWith("browser."))
      return failed(error.code, error.hint === undefined ? error.message : `${error.message}; ${error.hint}`);
    const isBad = /^(?:wire\.|node\.other-text|exec\.rejected-variable|exec\.bad-)/.test(error.code);
    return failed(isBad ? "INVALID_REQUEST" : "UNAVAILABLE", error.message);
  }
}

const failed = (code: string, message: string): Outcome => ({
  ok: false,
  error: { code, message: message.slice(0, 2000).toWellFormed() },
});

const tooLong = failed("UNAVAILABLE", "the answer is too long for one message: ask for less of it");

function canceledId(payload: unknown): string {
  return typeof payload === "object" && payload !== null && "id" in payload && typeof payload.id === "string"
    ? payload.id
    : "";
}
