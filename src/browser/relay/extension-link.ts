// The connection to the extension: the tabs that the user attached, commands to them and events from them.
import type { RawData, WebSocket } from "ws";

import type { Log } from "../../base/log.ts";

export interface AttachedTab {
  readonly tabId: number;
  readonly targetId: string;
  title: string;
  url: string;
  readonly info: Readonly<Record<string, unknown>>;
}

/** `sessionId` names a child target of the tab, such as a frame of another site. */
export interface TabEvent {
  readonly tabId: number;
  readonly sessionId?: string | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface LinkListener {
  attached(tab: AttachedTab): void;
  detached(tab: AttachedTab): void;
  updated(tab: AttachedTab): void;
  event(event: TabEvent): void;
}

interface Pending {
  readonly resolve: (result: Record<string, unknown>) => void;
  readonly reject: (error: Error) => void;
}

type Wire = Readonly<Record<string, unknown>>;

export class ExtensionLink {
  readonly tabs = new Map<number, AttachedTab>();
  listener: LinkListener | undefined;
  version = { product: "Chrome/0.0.0.0", userAgent: "Mozilla/5.0 Chrome" };
  readonly #log: Log;
  readonly #pending = new Map<number, Pending>();
  readonly #waiting = new Set<() => void>();
  #socket: WebSocket | undefined;
  #next = 1;

  constructor(log: Log) {
    this.#log = log;
  }

  get isConnected(): boolean {
    return this.#socket !== undefined;
  }

  /** A new connection replaces the old one: a restarted service worker does not close its socket first. */
  accept(socket: WebSocket): void {
    this.#drop("the extension connected again");
    this.#socket = socket;
    socket.on("message", (data) => this.#receive(socket, data));
    socket.on("error", (error) => this.#log.debug("extension socket failed", { error: error.message }));
    socket.on("close", () => {
      if (this.#socket === socket) this.#drop("the extension disconnected");
    });
  }

  tabOf(targetId: string): AttachedTab | undefined {
    return this.tabs.values().find((tab) => tab.targetId === targetId);
  }

  /** Sends a CDP command to an attached tab. */
  command(tabId: number, sessionId: string | undefined, method: string, params: Wire): Promise<Wire> {
    if (!this.tabs.has(tabId)) return Promise.reject(new Error("the tab is no longer attached"));
    return this.#ask({ type: "command", tabId, sessionId, method, params });
  }

  /** Opens a tab next to the attached ones; it is attached when this resolves. */
  async openTab(url: string): Promise<AttachedTab> {
    const { tabId } = await this.#ask({ type: "open", url });
    const tab = this.tabs.get(Number(tabId));
    if (tab === undefined) throw new Error("the new tab could not be attached");
    return tab;
  }

  closeTab(tabId: number): Promise<Wire> {
    return this.#ask({ type: "close", tabId });
  }

  activateTab(tabId: number): Promise<Wire> {
    return this.#ask({ type: "activate", tabId });
  }

  /** Puts the tab into the state right after it was attached, so that a new CDP client sees every event again. */
  reset(tabId: number): Promise<Wire> {
    return this.#ask({ type: "reset", tabId });
  }

  async waitForTab(timeoutMs: number): Promise<void> {
    if (this.tabs.size > 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    this.#waiting.add(resolve);
    await promise;
    this.#waiting.delete(resolve);
    clearTimeout(timer);
  }

  close(): void {
    this.#drop("the relay ended");
  }

  #ask(message: Wire): Promise<Wire> {
    const socket = this.#socket;
    if (socket === undefined) return Promise.reject(new Error("the extension is not connected"));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      socket.send(JSON.stringify({ id, ...message }));
    });
  }

  #receive(socket: WebSocket, data: RawData): void {
    if (this.#socket !== socket) return;
    const message = parse(data);
    switch (message["type"]) {
      case "hello":
        this.version = { product: text(message["product"]), userAgent: text(message["userAgent"]) };
        return;
      case "ping":
        return socket.send(`{"type":"pong"}`);
      case "result":
        return this.#settle(message);
      case "attached":
        return this.#attached(message);
      case "detached":
        return this.#detached(Number(message["tabId"]));
      case "updated":
        return this.#updated(message);
      case "event":
        return this.#event(message);
      default:
        this.#log.debug("extension sent an unknown message", { type: message["type"] });
    }
  }

  #settle({ id, result, error }: Wire): void {
    const pending = this.#pending.get(Number(id));
    this.#pending.delete(Number(id));
    if (error === undefined) pending?.resolve(record(result));
    else pending?.reject(new Error(text(error)));
  }

  #attached(message: Wire): void {
    const info = record(message["targetInfo"]);
    const tabId = Number(message["tabId"]);
    this.#detached(tabId);
    const [targetId, title, url] = [text(info["targetId"]), text(info["title"]), text(info["url"])];
    const tab: AttachedTab = { tabId, targetId, title, url, info };
    this.tabs.set(tabId, tab);
    this.listener?.attached(tab);
    for (const resume of this.#waiting) resume();
  }

  #detached(tabId: number): void {
    const tab = this.tabs.get(tabId);
    if (tab === undefined) return;
    this.tabs.delete(tabId);
    this.listener?.detached(tab);
  }

  #updated(message: Wire): void {
    const tab = this.tabs.get(Number(message["tabId"]));
    if (tab === undefined) return;
    tab.title = text(message["title"]);
    tab.url = text(message["url"]);
    this.listener?.updated(tab);
  }

  #event(message: Wire): void {
    const tabId = Number(message["tabId"]);
    // Events of a tab that was not attached are never passed on.
    if (!this.tabs.has(tabId)) return;
    const sessionId = typeof message["sessionId"] === "string" ? message["sessionId"] : undefined;
    this.listener?.event({ tabId, sessionId, method: text(message["method"]), params: record(message["params"]) });
  }

  #drop(reason: string): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    for (const tabId of this.tabs.keys()) this.#detached(tabId);
    for (const { reject } of this.#pending.values()) reject(new Error(reason));
    this.#pending.clear();
  }
}

function parse(data: RawData): Wire {
  try {
    return record(JSON.parse((data as Buffer).toString("utf8")));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
