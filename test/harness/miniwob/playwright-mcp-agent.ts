// The same agent with `@playwright/mcp` in front of a browser, to compare what a model has to read.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import type { Agent, Seen, Step } from "./agent.ts";

export class PlaywrightMcp {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #id = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout === null) throw new Error("the server has no output");
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as Message;
      this.#waiting.get(message.id ?? -1)?.(message);
      this.#waiting.delete(message.id ?? -1);
    });
  }

  /** `program` is the cli.js of the package. */
  static async start(program: string, cdpPort: number, cwd: string): Promise<PlaywrightMcp> {
    const args = [program, "--cdp-endpoint", `http://127.0.0.1:${cdpPort}`, "--output-dir", cwd];
    const server = new PlaywrightMcp(spawn(process.execPath, args, { cwd, stdio: ["pipe", "pipe", "ignore"] }));
    const clientInfo = { name: "bench", version: "0" };
    await server.#request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    server.#send({ method: "notifications/initialized" });
    return server;
  }

  async call(name: string, args: object): Promise<string> {
    const { result } = await this.#request("tools/call", { name, arguments: args });
    const text = result?.content.map((block) => block.text ?? "").join("\n") ?? "";
    if (result?.isError === true) throw new Error(text);
    return text;
  }

  async close(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill();
    await ended;
  }

  #request(method: string, params: object): Promise<Message> {
    const { promise, resolve } = Promise.withResolvers<Message>();
    this.#waiting.set(++this.#id, resolve);
    this.#send({ id: this.#id, method, params });
    return promise;
  }

  #send(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}

interface Message {
  readonly id?: number;
  readonly result?: { readonly content: readonly { readonly text?: string }[]; readonly isError?: boolean };
}

/** `isEager`: takes a snapshot after every step, because answers do not contain the page. */
export class PlaywrightMcpAgent implements Agent {
  seen: Seen[] = [];
  bytes = 0;
  readonly #server: PlaywrightMcp;
  readonly #isEager: boolean;

  constructor(server: PlaywrightMcp, isEager: boolean) {
    this.#server = server;
    this.#isEager = isEager;
  }

  async look(options: object = {}): Promise<readonly Seen[]> {
    if (Object.keys(options).length > 0) throw new Error("no such snapshot");
    const text = await this.#call("browser_snapshot", {});
    this.seen = text.split("\n").flatMap(parseLine);
    return this.seen;
  }

  async act(step: Step): Promise<void> {
    for (const [name, args] of callsFor(step)) await this.#call(name, args);
    if (this.#isEager) await this.look();
  }

  async #call(name: string, args: object): Promise<string> {
    const text = await this.#server.call(name, args);
    this.bytes += Buffer.byteLength(text);
    return text;
  }
}

type Calls = readonly (readonly [name: string, args: object])[];

function callsFor({ kind, ref: target, ...rest }: Step): Calls {
  const element = "the element";
  const { text, values, startRef, endRef, key, count = 1, fields, timeMs, submit, slowly } = rest;
  if (text !== undefined && kind !== "type") throw new Error(`${kind} of words is not possible`);
  switch (kind) {
    case "click":
    case "hover":
      return [[`browser_${kind}`, { element, target }]];
    case "type":
      return [["browser_type", { element, target, text, submit, slowly }]];
    case "press": {
      const presses = Array.from({ length: Number(count) }, () => ["browser_press_key", { key }] as const);
      return target === undefined ? presses : [["browser_click", { element, target }], ...presses];
    }
    case "drag":
      return [
        ["browser_drag", { startElement: element, startTarget: startRef, endElement: element, endTarget: endRef }],
      ];
    case "select":
      return [["browser_select_option", { element, target, values }]];
    case "fill":
      return [
        [
          "browser_fill_form",
          {
            fields: (fields as { ref: string; value: unknown }[]).map(({ ref, value }) => ({
              element,
              target: ref,
              name: "field",
              type: "checkbox",
              value: String(value),
            })),
          },
        ],
      ];
    case "wait":
      return [["browser_wait_for", { time: Number(timeMs) / 1000 }]];
    default:
      throw new Error(`${kind} is not possible`);
  }
}

const pattern = /^( *)- ([a-z]+)(?: "((?:[^"\\]|\\.)*)")?((?: \[[^\]]*\])*)(?:: (.*))?:?$/;

function parseLine(line: string): Seen[] {
  const match = pattern.exec(line);
  if (match === null) return [];
  const [, indent = "", role = "", name = "", states = "", value = ""] = match;
  const isGeneric = role === "generic" || role === "text";
  return [
    {
      ref: /\[ref=(\w+)\]/.exec(states)?.[1] ?? "",
      role: isGeneric ? (states.includes("cursor=pointer") ? "clickable" : "text") : role,
      name: name.replaceAll(/\\(.)/g, "$1"),
      text: value.startsWith('"') ? (JSON.parse(value) as string) : value,
      depth: indent.length,
      line,
    },
  ];
}
