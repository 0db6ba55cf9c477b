// The approval card of a config change by an agent: the whole diff, the protected keys, who asks and why.
import { basename } from "node:path";

import { unifiedDiff } from "../base/line-diff.ts";
import type { ProtectedChange } from "../config/protected.ts";
import { redactRaw } from "../config/redact.ts";
import type { ApprovalCard } from "../protocol/approval.ts";
import type { AdminCaller, ChangeRequest } from "../tool/admin.ts";

export interface CardFacts {
  readonly action: ChangeRequest["action"];
  readonly before: string;
  readonly after: string;
  readonly file: string;
  readonly touched: readonly ProtectedChange[];
  readonly note: string | undefined;
  readonly caller: AdminCaller;
}

/** Redacts secrets on both sides: a changed secret shows as its path. The broker rejects a card that is too long. */
export function changeCard({ action, before, after, file, touched, note, caller }: CardFacts): ApprovalCard {
  const diff = unifiedDiff(redactRaw(before), redactRaw(after), { name: basename(file), maxChars: Infinity });
  return {
    title: "Change the config",
    text: diff === "" ? "Only secrets change; they are not shown." : diff,
    rows: [
      ...touched.map(({ path, change, reason }) => ({ label: "protected", value: `${path} (${change}): ${reason}` })),
      ...(touched.length > 0 ? [] : [{ label: "why you are asked", value: "the request did not come from you alone" }]),
      { label: "asked by", value: `gateway ${action}` },
      ...(note === undefined || note.trim() === "" ? [] : [{ label: "its note", value: note }]),
      { label: "file", value: file },
      { label: "agent", value: caller.agent },
      { label: "session", value: caller.session },
      { label: "afterwards", value: "the gateway restarts" },
    ],
  };
}
