// Tells observers about each step of an approval after it is durable.
import type { Log } from "../base/log.ts";
import type { Approval } from "./record.ts";

export interface ApprovalListener {
  /** Waits for an answer. */
  requested?(approval: Approval): void;
  /** Answered, expired or withdrawn; `reason` says why when it was not a person. */
  resolved?(approval: Approval): void;
  /** Was allowed and did not start (refused by the rules in force, process died, too late): now denied, with a reason. */
  lapsed?(approval: Approval): void;
  /** What it allowed has ended; `reason` says how. */
  finished?(approval: Approval): void;
  /** Had started when the process died: the outcome is unknown, and it is not started again. */
  interrupted?(approval: Approval): void;
}

export interface Listeners {
  watch(listener: ApprovalListener): () => void;
  emit(event: keyof ApprovalListener, approval: Approval): void;
}

export function createListeners(log: Log): Listeners {
  const listeners = new Set<ApprovalListener>();
  return {
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    emit(event, approval) {
      for (const listener of listeners) {
        // The step is on disk already: a listener that throws must not stop the others.
        try {
          listener[event]?.(approval);
        } catch (error) {
          log.error("an approval listener failed", { id: approval.id, event, error });
        }
      }
    },
  };
}
