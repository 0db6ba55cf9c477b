// One connection to an MCP server for one workspace: opened by the first use, restarted after a crash with back-off.
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, StandardSchemaV1, Transport } from "@modelcontextprotocol/client";

import { ToolError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { ToolCall } from "../../tool/tool.ts";
import { toFailure } from "./failure.ts";
import { garbage } from "./result.ts";
import { MAX_TOOLS, parseRemoteTool, type RemoteTool } from "./remote-tool.ts";
import type { AnswerServer } from "./server-requests.ts";
import { StdioTransport } from "./stdio.ts";

export interface ConnectionOptions {
  readonly id: string;
  readonly timeoutMs: number;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  /** A fresh one for every attempt. */
  transport(): Promise<Transport>;
  readonly answer: AnswerServer;
  /** After every connect and whenever the server says that its tools changed. */
  onTools(tools: readonly RemoteTool[]): void;
}

export interface ServerFacts {
  readonly name: string;
  readonly version: string;
  readonly protocol: string;
}

interface Open {
  readonly client: Client;
  readonly transport: Transport;
  readonly tools: readonly RemoteTool[];
}

const MAX_PAGES = 50;
/** A call never takes longer, however much progress is reported. */
const MAX_CALL_MS = 30 * 60_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A shorter pause is waited for, a longer one is reported. */
const PATIENCE_MS = 2_000;
const PING_MS = 2_000;
/** A program may have to be downloaded and compiled first, so its start may take longer than a call. */
const MIN_START_MS = 30_000;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #startMs: number;
  readonly #hint: string;
  readonly #active = new Set<ToolCall>();
  #opening: Promise<Open> | undefined;
  #failures = 0;
  #retryAt = 0;
  #isClosed = false;
  /** Set after a call that got no answer, until it is known whether the server still works. */
  #checking: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#startMs = Math.max(options.timeoutMs, MIN_START_MS);
    this.#hint = `openclaw mcp test ${options.id}`;
  }

  /** The answer to `tools/call`, unchecked. Rejects with `mcp.*`. */
  async call(tool: string, args: Record<string, unknown>, call: ToolCall): Promise<unknown> {
    const { id, timeoutMs } = this.#options;
    for (let isRetry = false; ; isRetry = true) {
      const current = await this.#open();
      this.#active.add(call);
      try {
        const result = await send(current, { tool, args, call, timeoutMs });
        this.#failures = 0;
        return result;
      } catch (error) {
        // The server forgot the session, so it did not run the call.
        if (statusOf(error) === 404 && !isRetry) {
          await this.#drop(current);
          continue;
        }
        if (codeOf(error) === "REQUEST_TIMEOUT") this.#checkAlive(current);
        const end = this.#opening === undefined ? endOf(current.transport) : undefined;
        throw toFailure(error, { id, timeoutMs, end });
      } finally {
        this.#active.delete(call);
      }
    }
  }

  /** Connects unless it is connected, and returns the tools that the server declares now. */
  async tools(): Promise<readonly RemoteTool[]> {
    return (await this.#open()).tools;
  }

  async facts(): Promise<ServerFacts> {
    const { client } = await this.#open();
    const { name = "", version = "" } = client.getServerVersion() ?? {};
    return { name, version, protocol: client.getNegotiatedProtocolVersion() ?? "" };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const current = await this.#opening?.catch(() => undefined);
    if (current !== undefined) await this.#drop(current);
  }

  async #open(): Promise<Open> {
    const { id, clock } = this.#options;
    if (this.#isClosed) throw new ToolError("mcp.closed", `MCP server ${id} is being stopped`, { hint: this.#hint });
    if (this.#checking !== undefined) await this.#checking;
    if (this.#opening !== undefined) return this.#opening;
    const pause = this.#retryAt - clock.ticks();
    if (pause > PATIENCE_MS)
      throw new ToolError(
        "mcp.resting",
        `MCP server ${id} failed ${this.#failures} times in a row; the next attempt is in ${Math.ceil(pause / 1000)} s`,
        { hint: this.#hint },
      );
    if (pause > 0) {
      await sleep(pause);
      return this.#open();
    }
    const attempt = this.#connect();
    this.#opening = attempt;
    attempt.catch(() => this.#countFailure());
    return attempt;
  }

  #countFailure(): void {
    this.#opening = undefined;
    this.#failures += 1;
    // The first restart is immediate.
    const pause = this.#failures < 2 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 2));
    this.#retryAt = this.#options.clock.ticks() + pause;
  }

  async #connect(): Promise<Open> {
    const { id, log, version, answer } = this.#options;
    const { Client: SdkClient } = await import("@modelcontextprotocol/client");
    const transport = await this.#options.transport();
    const client = new SdkClient(
      { name: "openclaw", version },
      { capabilities: { roots: {}, sampling: {}, elicitation: {} }, ...negotiation(transport) },
    );
    answer(client, () => [...this.#active].at(-1));
    client.onerror = (error) => log.debug(`MCP server ${id}: ${error.message}`);
    try {
      await client.connect(transport, { timeout: this.#startMs });
      const tools = await listTools(client, id, this.#startMs);
      client.onclose = () => {
        log.info(`MCP server ${id} ${endOf(transport) ?? "closed the connection"}`);
        this.#countFailure();
      };
      client.setNotificationHandler("notifications/tools/list_changed", () => this.#listAgain(client));
      this.#options.onTools(tools);
      return { client, transport, tools };
    } catch (error) {
      await this.#closeClient(client);
      throw toFailure(error, { id, timeoutMs: this.#startMs, end: endOf(transport) });
    }
  }

  async #listAgain(client: Client): Promise<void> {
    const { id, log, timeoutMs } = this.#options;
    try {
      const tools = await listTools(client, id, timeoutMs);
      const current = await this.#opening;
      if (current?.client === client) this.#opening = Promise.resolve({ ...current, tools });
      this.#options.onTools(tools);
    } catch (error) {
      log.warn(`the changed tools of MCP server ${id} could not be read`, { error, hint: this.#hint });
    }
  }

  async #drop({ client }: Open): Promise<void> {
    client.onclose = undefined;
    this.#opening = undefined;
    await this.#closeClient(client);
  }

  async #closeClient(client: Client): Promise<void> {
    const { id, log } = this.#options;
    await client.close().catch((error: unknown) => log.debug(`MCP server ${id} did not close`, { error }));
  }

  /** A program that answers no ping is stopped, so that the next call gets a new one. */
  #checkAlive(current: Open): void {
    if (!(current.transport instanceof StdioTransport) || this.#checking !== undefined) return;
    this.#checking = current.client
      .ping({ timeout: PING_MS })
      .then(
        () => undefined,
        () => this.#drop(current),
      )
      .finally(() => {
        this.#checking = undefined;
      });
  }
}

interface ToolRequest {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly call: ToolCall;
  readonly timeoutMs: number;
}

function send({ client }: Open, { tool, args, call, timeoutMs }: ToolRequest): Promise<unknown> {
  return client.request({ method: "tools/call", params: { name: tool, arguments: args } }, unchecked, {
    signal: call.signal,
    timeout: timeoutMs,
    resetTimeoutOnProgress: true,
    maxTotalTimeout: Math.max(timeoutMs, MAX_CALL_MS),
    onprogress: ({ progress, total, message }) => {
      call.client?.report(progress, total, message);
      const text = message ?? (total === undefined ? String(progress) : `${progress} of ${total}`);
      call.progress({ content: [{ type: "text", text: text.slice(0, 1_000) }] });
    },
  });
}

/** `toResult` checks every field that is used; the check of the SDK would take longer than all of ours. */
const unchecked: StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "openclaw", validate: (value) => ({ value }) },
};

/** Over HTTP the newest revision is tried first; programs are asked in the form that all of them know. */
function negotiation(transport: Transport): object {
  return transport instanceof StdioTransport ? {} : { versionNegotiation: { mode: "auto" } };
}

const endOf = (transport: Transport): string | undefined =>
  transport instanceof StdioTransport ? transport.describeEnd() : undefined;

const codeOf = (error: unknown): unknown => (isRecord(error) ? error["code"] : undefined);

const statusOf = (error: unknown): unknown => (isRecord(error) ? error["status"] : undefined);

async function listTools(client: Client, id: string, timeoutMs: number): Promise<RemoteTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools = new Map<string, RemoteTool>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.size < MAX_TOOLS; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: "tools/list", params }, { timeout: timeoutMs });
    if (!Array.isArray(answer.tools)) throw garbage(id, "tools is not a list");
    for (const raw of answer.tools) {
      const tool = parseRemoteTool(raw);
      if (tool !== undefined && !tools.has(tool.name)) tools.set(tool.name, tool);
    }
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return [...tools.values()].slice(0, MAX_TOOLS);
}
