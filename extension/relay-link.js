// The WebSocket to the relay: connects on demand, connects again while tabs are attached, keeps the worker awake.
import { readSettings } from "./settings.js";

const PING_MS = 20_000;
const RETRY_MS = [500, 1000, 2000, 4000, 5000];

export class RelayLink {
  #socket;
  #opening;
  #attempt = 0;
  #retry;

  /** `handlers`: message(text), opened(), closed(), isNeeded(). */
  constructor(handlers) {
    this.handlers = handlers;
    setInterval(() => this.send({ type: "ping" }), PING_MS);
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Rejects when the relay does not answer or refuses the token. */
  async open() {
    if (this.isOpen) return;
    this.#opening ??= this.#connect().finally(() => (this.#opening = undefined));
    await this.#opening;
  }

  send(message) {
    if (this.isOpen) this.#socket.send(JSON.stringify(message));
  }

  async #connect() {
    const { port, token } = await readSettings();
    const socket = new WebSocket(`ws://127.0.0.1:${port}/extension`, ["openclaw-relay", `token.${token}`]);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error(`the relay on port ${port} is not reachable or refused the token`));
    });
    clearTimeout(this.#retry);
    this.#attempt = 0;
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.handlers.message(JSON.parse(data));
    socket.onclose = () => this.#closed(socket);
    const userAgent = navigator.userAgent;
    this.send({ type: "hello", userAgent, product: /Chrome\/[\d.]+/.exec(userAgent)?.[0] ?? "Chrome/0.0.0.0" });
    await this.handlers.opened();
  }

  #closed(socket) {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    this.handlers.closed(false);
    this.#scheduleRetry();
  }

  #scheduleRetry() {
    if (!this.handlers.isNeeded()) return;
    const delay = RETRY_MS[Math.min(this.#attempt++, RETRY_MS.length - 1)];
    this.#retry = setTimeout(async () => {
      try {
        await this.open();
      } catch {
        // Still down: the badge shows it, and the next attempt follows.
        this.handlers.closed(true);
        this.#scheduleRetry();
      }
    }, delay);
  }
}
