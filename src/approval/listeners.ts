// Who hears of approvals. What a recovery closed is kept for those who come later.
import type { Log } from "../base/log.ts";
import type { Approval } from "./record.ts";

export interface ApprovalListener {
  /** Somebody should answer. */
  requested?(approval: Approval): void;
  /** Answered, expired or withdrawn; `reason` says why when it was not a person. */
  resolved?(approval: Approval): void;
  /** Was allowed, but nobody began it (the process died, or time was over): now denied, with a reason. */
  lapsed?(approval: Approval): void;
  /** Had begun when the process died: how it ended is not known. It is not begun again. */
  interrupted?(approval: Approval): void;
}

export interface Listeners {
  watch(listener: ApprovalListener): () => void;
  tell(what: keyof ApprovalListener, approval: Approval): void;
  /** What is told while `work` runs is also told to every later listener; resolves with how much that was. */
  recovering(work: () => Promise<void>): Promise<number>;
}

export function createListeners(log: Log): Listeners {
  const listeners = new Set<ApprovalListener>();
  const recovered: (readonly [keyof ApprovalListener, Approval])[] = [];
  let isRecovering = false;

  /** A listener that fails must not undo what is already on disk, nor keep the others from hearing it. */
  const tellOne = (listener: ApprovalListener, what: keyof ApprovalListener, approval: Approval): void => {
    try {
      listener[what]?.(approval);
    } catch (error) {
      log.error("a listener of the approvals failed", { id: approval.id, what, error });
    }
  };
  return {
    watch(listener) {
      const missed = [...recovered];
      listeners.add(listener);
      queueMicrotask(() => missed.forEach(([what, approval]) => tellOne(listener, what, approval)));
      return () => void listeners.delete(listener);
    },
    tell(what, approval) {
      if (isRecovering) recovered.push([what, approval]);
      for (const listener of listeners) tellOne(listener, what, approval);
    },
    async recovering(work) {
      isRecovering = true;
      await work();
      isRecovering = false;
      return recovered.length;
    },
  };
}
