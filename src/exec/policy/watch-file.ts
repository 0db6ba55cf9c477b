// Watches the approvals file of this host: its rules are remembered as they change, and its loss is logged.
import type { Log } from "../../base/log.ts";
import { watchConfig } from "../../config/watch.ts";
import { approvalsCaution, approvalsPath } from "./file.ts";

export interface ApprovalsWatch {
  /** What the owner should know: the file is gone, or cannot be read. */
  caution(): ReturnType<typeof approvalsCaution>;
  close(): void;
}

const DEBOUNCE_MS = 100;

export function watchApprovals(state: string, log: Log): ApprovalsWatch {
  let caution: ReturnType<typeof approvalsCaution>;
  const look = (): void => {
    const before = caution?.text;
    caution = approvalsCaution(state);
    if (caution?.text === before) return;
    if (caution === undefined) log.info("the approvals file is there and in force again");
    else log.warn(caution.text, { fix: caution.fix });
  };
  look();
  const watch = watchConfig({ files: [approvalsPath(state)], debounceMs: DEBOUNCE_MS, onChange: look });
  return { caution: () => caution, close: () => watch.close() };
}
