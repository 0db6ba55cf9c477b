// The status and result of a subagent, as the gateway saw them; its own claims do not count.
import type { RunOutcome } from "../../core/event.ts";
import type { Clock } from "../../base/clock.ts";
import type { Mask } from "../../base/mask.ts";
import type { Child, ChildResult } from "../../session/subagents.ts";
import type { ChildStatus } from "../../store/store.ts";
import { cutText } from "../result.ts";

const MAX_RESULT_CHARS = 16_000;

export function statusOf(outcome: RunOutcome | undefined): ChildStatus {
  if (outcome === undefined) return "unknown";
  if (outcome.status === "ok") return "ok";
  if (outcome.status === "aborted") return "killed";
  if (outcome.failure?.code === "run.timeout") return "timeout";
  return outcome.failure?.code === "run.interrupted" ? "unknown" : "error";
}

export function resultOf(
  outcome: RunOutcome | undefined,
  child: Child,
  { clock, mask }: { readonly clock: Clock; readonly mask: Mask },
): ChildResult {
  if (outcome === undefined) return { text: "", runtimeMs: clock.now() - child.createdAt };
  const { text, failure, startedAt, endedAt, usage, costUsd } = outcome;
  return {
    text: cutText(mask(text), MAX_RESULT_CHARS),
    ...(failure === undefined ? {} : { notes: mask(failure.message) }),
    runtimeMs: Math.max(0, endedAt - startedAt),
    ...(usage === undefined ? {} : { input: usage.input, output: usage.output }),
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}
