// Ports of tools that are made after them: a tool keeps the port, and who opens the gateway ties it to the real thing.
import { ToolError } from "../core/error.ts";

export interface Slot<T> {
  /** Throws `tool.needs-gateway` where nothing is tied to it: a tool called without a running gateway. */
  (): T;
  /** Undefined where nothing is tied to it. */
  known(): T | undefined;
  provide(port: T): void;
}

export function slot<T>(what: string): Slot<T> {
  let port: T | undefined;
  const use = (): T => {
    if (port !== undefined) return port;
    throw new ToolError("tool.needs-gateway", `${what} works only inside the running gateway`, {
      hint: "openclaw gateway run",
    });
  };
  return Object.assign(use, {
    known: () => port,
    provide(real: T) {
      port = real;
    },
  });
}
