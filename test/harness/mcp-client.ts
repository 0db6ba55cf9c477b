// A gateway with MCP servers of the tests, and calls of their tools through the front door.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { dispose, invoke, root, startGateway, type GatewayPlan, type TestGateway, type Wire } from "./gateway.ts";

export interface McpAnswer {
  readonly ok: boolean;
  readonly text: string;
  readonly content: readonly { readonly type: string; readonly text?: string; readonly mimeType?: string }[];
  readonly details: unknown;
  readonly attachments: readonly { readonly type: string }[];
  readonly isError: boolean;
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
}

export interface McpGateway {
  readonly gateway: TestGateway;
  call(tool: string, args?: object): Promise<McpAnswer>;
  close(): Promise<void>;
}

export const stdioServer = join(root, "test", "fakes", "mcp-stdio.ts");

/** The config of the stdio server of the tests. */
export function fakeStdio(more: object = {}): Record<string, unknown> {
  return { command: process.execPath, args: ["--no-warnings", stdioServer], timeoutMs: 20_000, ...more };
}

export async function startMcpGateway(
  servers: Record<string, unknown>,
  plan: GatewayPlan & { mcp?: object } = {},
): Promise<McpGateway> {
  const { mcp, ...rest } = plan;
  const gateway = await startGateway({ ...rest, config: { mcp: { servers, ...mcp }, ...plan.config } });
  return {
    gateway,
    async call(tool, args = {}) {
      const { body } = await invoke(gateway, tool, args);
      return toAnswer(body as Invoked);
    },
    close: () => dispose(gateway),
  };
}

interface Invoked {
  readonly ok: boolean;
  readonly result?: {
    readonly content?: McpAnswer["content"];
    readonly details?: unknown;
    readonly attachments?: McpAnswer["attachments"];
    readonly isError?: boolean;
  };
  readonly error?: {
    readonly message: string;
    readonly details: { readonly code: string; readonly hint?: string; readonly reason?: string };
  };
}

function toAnswer(body: Invoked): McpAnswer {
  const { content = [], details, attachments = [], isError = false } = body.result ?? {};
  return {
    ok: body.ok,
    text: content.map(({ text = "" }) => text).join("\n"),
    content,
    details,
    attachments,
    isError,
    ...(body.error === undefined
      ? {}
      : { error: { ...body.error.details, message: body.error.details.reason ?? body.error.message } }),
  };
}

/** Runs `openclaw mcp login` and opens the address it prints, as a browser would. */
export function logIn(home: string, id: string): Promise<string> {
  const child = spawn(process.execPath, [join(root, "openclaw.mjs"), "mcp", "login", id], {
    env: { PATH: process.env["PATH"], HOME: home, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [output, errors, isOpened] = ["", "", false];
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
    const url = /(http:\/\/\S+\/authorize\S+)\n/.exec(errors)?.[1];
    if (url === undefined || isOpened) return;
    isOpened = true;
    void fetch(url);
  });
  return new Promise((resolve, reject) => {
    child.on("exit", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`exit ${code}\n${output}\n${errors}`)),
    );
  });
}

/** Waits for the approval that matches, and answers it. */
export async function answerNext(wire: Wire, decision: string, title: RegExp, text: RegExp): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    const { payload } = await wire.request("exec.approvals.pending", {});
    const [first] = payload?.pending ?? [];
    if (first !== undefined) {
      assert.match(first.card.title, title);
      assert.match(first.card.text, text);
      const answered = await wire.request("exec.approval.resolve", { id: first.id, decision });
      assert.equal(answered.ok, true, JSON.stringify(answered));
      return;
    }
    await sleep(10);
  }
  assert.fail("no approval was asked for");
}
