// Responses that can be continued or read again: where each one ended, stored for two weeks and limited in number.
import { OpenClawError } from "../../core/error.ts";
import type { RunOutcome } from "../../core/event.ts";
import type { SessionKey } from "../../core/names.ts";
import { isRecord } from "../../core/record.ts";
import { newId } from "../../base/ids.ts";
import { isStale, resetRule } from "../../session/reset.ts";
import { entryOf, newSession } from "../../session/session.ts";
import type { KvWrite } from "../../store/store.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import type { Target } from "./openai-turn.ts";
import { refuse } from "./openai-request.ts";

export interface ResponseRecord {
  readonly at: number;
  readonly sessionKey: SessionKey;
  readonly sessionId: string;
  /** How many entries the transcript had when the response was complete. */
  readonly seq: number;
  /** The fields of the request that the response repeats. */
  readonly head: Readonly<Record<string, unknown>>;
}

const SPACE = "openai-responses";
const CONTINUED = "openai-continued";
/** As long as the outcomes of runs are stored. */
const KEEP_MS = 14 * 24 * 3_600_000;
const MAX_RECORDS = 5000;
const MAX_HEAD_CHARS = 16_000;
const LOOK_EVERY_MS = 3_600_000;

export const runIdOf = (responseId: string): string | undefined => /^resp_([\w-]{1,64})$/.exec(responseId)?.[1];

/** Called before the caller learns the id, so that every id can be continued. */
export async function keepResponse(
  { store, clock }: GatewayContext,
  { runId, sessionKey, sessionId }: RunOutcome,
  head: Readonly<Record<string, unknown>>,
): Promise<void> {
  const now = clock.now();
  const { instructions: _instructions, tools: _tools, ...small } = head;
  const record: ResponseRecord = {
    at: now,
    sessionKey,
    sessionId,
    seq: await store.transcript.count(sessionId),
    head: JSON.stringify(head).length > MAX_HEAD_CHARS ? small : head,
  };
  await store.kv.setAll([{ space: SPACE, key: runId, value: record }, ...(await outdated(store.kv, now))]);
}

let lookedAt = 0;

/** The oldest records beyond the limits; checked once in a while. */
async function outdated(kv: GatewayContext["store"]["kv"], now: number): Promise<KvWrite[]> {
  if (Math.abs(now - lookedAt) < LOOK_EVERY_MS) return [];
  lookedAt = now;
  const rows = (await kv.list(SPACE)).map(({ key, value }) => ({ key, at: (value as ResponseRecord).at }));
  const newest = rows.toSorted((one, other) => other.at - one.at);
  return newest
    .filter(({ at }, index) => index >= MAX_RECORDS || at < now - KEEP_MS)
    .map(({ key }) => ({ space: SPACE, key, value: undefined }));
}

/** Undefined when it does not exist, is too old, or belongs to another agent or session than the caller names. */
export async function findResponse(
  responseId: string,
  { subject, isNamed }: Pick<Target, "subject" | "isNamed">,
  context: GatewayContext,
): Promise<ResponseRecord | undefined> {
  const runId = runIdOf(responseId);
  const value = runId === undefined ? undefined : await context.store.kv.get(SPACE, runId);
  if (!isRecord(value)) return undefined;
  const record = value as unknown as ResponseRecord;
  if (record.at < context.clock.now() - KEEP_MS) return undefined;
  const { agent, session } = subjectOf({ sessionKey: record.sessionKey }, context.config());
  return agent === subject.agent && (!isNamed || session === subject.session) ? record : undefined;
}

export async function forgetResponse(responseId: string, { store }: GatewayContext): Promise<void> {
  await store.kv.set(SPACE, runIdOf(responseId) ?? "", undefined);
}

/** The session that continues after this response: its own, or a copy up to there when it has already continued. */
export async function sessionAfter(responseId: string, target: Target, context: GatewayContext): Promise<SessionKey> {
  const record = await findResponse(responseId, target, context);
  const gone = (): never =>
    refuse("previous_response_id", `no response with id "${responseId}" is stored`, "previous_response_not_found");
  if (record === undefined) return gone();
  if (await canGoOn(responseId, record, context)) return record.sessionKey;
  return (await copyUpTo(record, target, context)) ?? gone();
}

/** True once: of two requests that continue the same response, the second gets a copy. */
async function canGoOn(
  responseId: string,
  { sessionKey, sessionId, seq }: ResponseRecord,
  { store, clock, config }: GatewayContext,
): Promise<boolean> {
  const session = await store.sessions.get(sessionKey);
  if (session?.sessionId !== sessionId || (await store.transcript.count(sessionId)) !== seq) return false;
  const now = clock.now();
  if (isStale(resetRule(config(), sessionKey, entryOf(session).channel), session.updatedAt, now)) return false;
  return (await store.dedupe.claim(CONTINUED, responseId, now + KEEP_MS)).fresh;
}

const PAGE = 500;
const MAX_COPIED = 4000;

async function copyUpTo(
  { sessionId, seq }: ResponseRecord,
  { subject }: Target,
  { store, clock }: GatewayContext,
): Promise<SessionKey | undefined> {
  const key = `agent:${subject.agent}:openai:${newId()}` as SessionKey;
  const copy = newSession(key, clock.now());
  const first = Math.max(1, seq - MAX_COPIED + 1);
  for (let from = first; from <= seq; from += PAGE) {
    const until = Math.min(from + PAGE, seq + 1);
    const entries = await store.transcript.tail(sessionId, until - from, until);
    if (entries.length === 0) return undefined;
    await store.transcript.append(
      copy.sessionId,
      entries.map(({ seq: _seq, ...entry }) => entry),
    );
  }
  await store.sessions.put(copy);
  return key;
}

export function unknownResponse(responseId: string): OpenClawError {
  return new OpenClawError("response.unknown", `no response with id "${responseId.slice(0, 100)}" is stored`, {
    details: { param: "response_id", code: "response_not_found" },
  });
}
