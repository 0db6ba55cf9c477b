// Watches the approvals file of this host: remembers its rules as they change and logs when it is lost.
import type { Log } from "../../base/log.ts";
import { watchConfig } from "../../config/watch.ts";
import { approvalsCaution, approvalsPath } from "./file.ts";

export interface ApprovalsWatch {
  /** What the owner should know: the file is missing or unreadable. */
  caution(): ReturnType<typeof approvalsCaution>;
  close(): void;
}

const DEBOUNCE_MS = 100;

export function watchApprovals(state: string, log: Log): ApprovalsWatch {
  let caution: ReturnType<typeof approvalsCaution>;
  const check = (): void => {
    const before = caution?.text;
    caution = approvalsCaution(state);
    if (caution?.text === before) return;
    if (caution === undefined) log.info("the approvals file is back and in force");
    else log.warn(caution.text, { fix: caution.fix });
  };
  check();
  const watch = watchConfig({ files: [approvalsPath(state)], debounceMs: DEBOUNCE_MS, onChange: check });
  return {
    caution() {
      // A file that is created and removed within the debounce time is not a change for the watcher.
      check();
      return caution;
    },
    close: () => watch.close(),
  };
}
