// Background work that is tried again after a failure and dropped when the gateway closes.
import { setMaxListeners } from "node:events";

import { OpenClawError } from "../../core/error.ts";
import type { Log } from "../../base/log.ts";

export interface Later {
  (what: string, work: () => Promise<void>): void;
  /** Aborts with `close`. */
  readonly closing: AbortSignal;
  close(): void;
}

const RETRY_MS = 30_000;

export function createLater(log: Log): Later {
  const control = new AbortController();
  // There is one listener per subagent.
  setMaxListeners(0, control.signal);
  const retries = new Set<NodeJS.Timeout>();
  const later = (what: string, work: () => Promise<void>): void => {
    work().catch((error: unknown) => {
      if (control.signal.aborted || isStopping(error)) return;
      log.warn(`${what}; trying again later`, { error });
      const timer = setTimeout(() => {
        retries.delete(timer);
        later(what, work);
      }, RETRY_MS).unref();
      retries.add(timer);
    });
  };
  return Object.assign(later, {
    closing: control.signal,
    close() {
      control.abort();
      for (const timer of retries) clearTimeout(timer);
      retries.clear();
    },
  });
}

const isStopping = (error: unknown): boolean => error instanceof OpenClawError && error.code === "gateway.stopping";

export const stopping = (): OpenClawError => new OpenClawError("gateway.stopping", "the gateway is stopping");
