// The bootstrap files of a prompt, changed by the owner's hooks when there are any.
import type { RunEventBody } from "../../core/event.ts";
import type { AgentId } from "../../core/names.ts";
import { subjectOf } from "../../tool/subject.ts";
import { bootstrapRequest } from "../turn-model.ts";
import { cutText } from "../result.ts";
import type { AgentsDeps } from "../deps.ts";
import type { SessionRef } from "../fit-context.ts";
import type { ReadBootstrap } from "./files.ts";

export async function bootstrapOf(
  { deps, readBootstrap }: { readonly deps: AgentsDeps; readonly readBootstrap: ReadBootstrap },
  {
    agentId,
    sessionRef,
    emit,
  }: { readonly agentId: AgentId; readonly sessionRef: SessionRef; readonly emit: (body: RunEventBody) => void },
): Promise<ReadBootstrap> {
  const hook = deps.onBootstrap?.();
  if (hook === undefined) return readBootstrap;
  const { key, sessionId } = sessionRef.record;
  const request = bootstrapRequest(deps, subjectOf({ sessionKey: key }, deps.config()));
  const files = readBootstrap(request).map(({ name, text }) => ({ name, content: text }));
  const { messages, bootstrapFiles } = await hook({ sessionKey: key, sessionId, agentId, files });
  for (const text of messages) emit({ stream: "notice", text });
  if (bootstrapFiles === undefined) return readBootstrap;
  const changed = bootstrapFiles.map(({ name, content }) => ({ name, text: cutText(content, request.maxChars) }));
  return () => changed.filter(({ text }) => text.trim() !== "");
}
