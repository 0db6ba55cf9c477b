// What tests of commands share: calls of exec and process through the front door, and the approvals file of a gateway.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { ApprovalsFile } from "../../src/protocol/methods/approvals.ts";
import { dispose, invoke, startGateway, type GatewayPlan, type TestGateway, type Wire } from "./gateway.ts";

/** A gateway of one test, with a workspace. */
export async function gatewayFor(t: TestContext, plan: GatewayPlan): Promise<TestGateway> {
  const gateway = await startGateway(plan);
  t.after(() => dispose(gateway));
  mkdirSync(gateway.workspace, { recursive: true });
  return gateway;
}

/** For calls from the main session of this agent. */
export const asAgent = (agent: string) => ({ body: { sessionKey: `agent:${agent}:main` } });

/** The System lines that wait for a session. */
export async function linesOf(wire: Wire, sessionKey: string): Promise<string[]> {
  const { events } = await wire.call("system-events.list", { sessionKey });
  return events.map(({ text }) => text);
}

export interface Called {
  readonly status: number;
  /** All text blocks of the result, or the message of the error. */
  readonly text: string;
  readonly details: Record<string, unknown>;
  /** `type` is the code of the error, where it has one. */
  readonly error?: { readonly type: string; readonly message: string; readonly details?: Record<string, unknown> };
}

type CallOptions = Parameters<typeof invoke>[3];

export async function call(
  gateway: TestGateway,
  tool: string,
  args: Record<string, unknown>,
  options?: CallOptions,
): Promise<Called> {
  const { status, body } = await invoke(gateway, tool, args, options);
  const { result, error } = body as {
    result?: { content: { text?: string }[]; details?: Record<string, unknown> };
    error?: NonNullable<Called["error"]>;
  };
  if (error !== undefined) {
    const { message, details = {} } = error;
    const type = typeof details["code"] === "string" ? details["code"] : error.type;
    return { status, text: message, details, error: { type, message, details } };
  }
  const text = (result?.content ?? []).map((block) => block.text ?? "").join("\n");
  return { status, text, details: result?.details ?? {} };
}

export const exec = (gateway: TestGateway, args: Record<string, unknown>, options?: CallOptions): Promise<Called> =>
  call(gateway, "exec", args, options);

export const proc = (gateway: TestGateway, args: Record<string, unknown>, options?: CallOptions): Promise<Called> =>
  call(gateway, "process", args, options);

/** Asks until it holds; a time-out fails with what was seen last. */
export async function until<T>(
  look: () => Promise<T> | T,
  holds: (seen: T) => boolean,
  timeoutMs = 120_000,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > end) throw new Error(`not in time; last seen: ${JSON.stringify(seen)?.slice(0, 2000)}`);
    await sleep(40);
  }
}

export function writeApprovals(state: string, file: Record<string, unknown>): void {
  writeFileSync(join(state, "exec-approvals.json"), JSON.stringify({ version: 1, ...file }), { mode: 0o600 });
}

export function readApprovals(state: string): ApprovalsFile {
  return JSON.parse(readFileSync(join(state, "exec-approvals.json"), "utf8")) as ApprovalsFile;
}
