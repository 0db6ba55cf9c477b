// The texts about a subagent that ended: for the requesting agent, and for people.
import { endWords, nameOf, type Child, type ChildResult } from "../../session/subagents.ts";
import { neutralize, wrapUntrusted } from "../../base/untrusted-content.ts";

/** For the requesting agent. The result is marked as untrusted, because it is unknown what the subagent read. */
export function announcement(child: Child): string {
  const { status = "unknown", body, childKey } = child;
  const { result } = body;
  return [
    `[Subagent] ${quoted(nameOf(child))}, which you started, ${endWords[status]}. This notice comes from the gateway, not from the person.`,
    `Task: ${oneLine(body.task)}`,
    `Status: ${status}`,
    `Result:\n${wrapUntrusted(result?.text || "(no text)", `subagent ${childKey}`)}`,
    ...(result?.notes === undefined ? [] : [`Notes: ${oneLine(result.notes)}`]),
    `Stats: ${statsOf(child)}`,
    "Tell the person the result in your own words, without these headings, and continue the work that waited for it. If nothing needs to be said, answer exactly NO_REPLY.",
  ].join("\n");
}

/** For people, when no model can report it. */
export function plainText(child: Child): string {
  const { status = "unknown", body } = child;
  const { result } = body;
  const head = `Subagent ${quoted(nameOf(child))} ${endWords[status]}.`;
  const text = status === "ok" ? (result?.text ?? "") : "";
  return [head, text, result?.notes === undefined ? "" : `Notes: ${result.notes}`, `(${statsOf(child)})`]
    .filter((part) => part !== "")
    .join("\n");
}

function statsOf({ childKey, body }: Child): string {
  const { result, sessionId } = body;
  return [
    `runtime ${seconds(result?.runtimeMs ?? 0)}`,
    tokensOf(result),
    ...(result?.costUsd === undefined ? [] : [`cost $${result.costUsd.toFixed(4)}`]),
    `sessionKey ${childKey}`,
    `sessionId ${sessionId}`,
  ].join(", ");
}

function tokensOf({ input = 0, output = 0 }: Partial<ChildResult> = {}): string {
  return `tokens ${input} in / ${output} out / ${input + output} total`;
}

function seconds(ms: number): string {
  if (ms < 60_000) return `${Math.round(ms / 100) / 10}s`;
  return `${Math.floor(ms / 60_000)}m${Math.round((ms % 60_000) / 1000)}s`;
}

const quoted = (name: string): string => `“${oneLine(name)}”`;

const oneLine = (text: string): string => neutralize(text.replaceAll(/\s+/gu, " ").trim().slice(0, 300));
