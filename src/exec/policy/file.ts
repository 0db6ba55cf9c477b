// exec-approvals.json: reads the whole file or rejects it, writes atomically, and detects concurrent edits by a base hash.
import { join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import { checker, describeIssues } from "../../core/schema.ts";
import { visible } from "../../core/visible.ts";
import { ApprovalsFileSchema, type ApprovalsFile, type ApprovalsSnapshot } from "../../protocol/methods/approvals.ts";
import { refusalTexts } from "../../protocol/refusal.ts";
import { writeFileAtomic } from "../../base/atomic-file.ts";
import { newId, newSecret, sha256 } from "../../base/ids.ts";
import { whileLocked } from "../../base/lock.ts";
import { keepLastKnown, lastKnown, lastKnownPath } from "./last-known.ts";
import { readIfThere } from "./read-file.ts";
import { unknownKeys } from "./unknown-keys.ts";

export type { ApprovalsFile, ApprovalsSnapshot };

const fileChecker = checker(ApprovalsFileSchema);

export const approvalsPath = (state: string): string => join(state, "exec-approvals.json");

/** Reads the rules and keeps a copy, so that they stay in force when the file is lost. Throws like `inspectApprovals`. */
export function readApprovals(state: string): ApprovalsSnapshot {
  return inspectApprovals(state, (path, raw) => keepLastKnown(path, raw));
}

/**
 * Reads the rules without writing, for checks. Without a file there are no rules; when the file was lost, its last known
 * rules stay in force. Throws for an unreadable file, so that no command runs on the host.
 */
export function inspectApprovals(state: string, keep?: (path: string, raw: string) => void): ApprovalsSnapshot {
  const path = approvalsPath(state);
  const raw = readIfThere(path);
  if (raw !== undefined) {
    const file = parseApprovals(raw, path);
    keep?.(path, raw);
    return { path, exists: true, hash: sha256(raw), file };
  }
  const missing = { path, exists: false, hash: sha256("") };
  const known = lastKnown(path);
  if (known === undefined) return { ...missing, file: { version: 1, defaults: {}, agents: {} } };
  return { ...missing, file: parseApprovals(known, lastKnownPath(path)), lost: true };
}

/** A problem of the file and the command that fixes it; undefined when there is none. */
export function approvalsCaution(state: string): { readonly text: string; readonly fix: string } | undefined {
  try {
    const { lost, path } = readApprovals(state);
    if (lost === undefined) return undefined;
    return {
      text: `${path} is missing. Its last known rules stay in force until you restore it or write a new one.`,
      fix: "openclaw approvals restore",
    };
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
    return {
      text: `Commands on this host are blocked: ${error.message}`,
      fix: error.hint ?? "openclaw approvals get",
    };
  }
}

/** Locks the file while `work` reads and writes it, because the command line and the gateway are two processes. */
export function withApprovalsLock<T>(state: string, work: () => T): T {
  return whileLocked(join(state, "exec-approvals.lock"), work);
}

/** Keeps the socket token that clients never see; gives every entry an id. */
export function writeApprovals(state: string, next: ApprovalsFile, baseHash: string | undefined): ApprovalsSnapshot {
  return withApprovalsLock(state, () => writeLocked(state, next, baseHash));
}

/** For callers that hold the lock. */
export function writeLocked(state: string, next: ApprovalsFile, baseHash: string | undefined): ApprovalsSnapshot {
  const current = readApprovals(state);
  if (current.exists && baseHash === undefined) {
    throw new OpenClawError(
      "wire.invalid-request",
      "exec approvals base hash required; re-run exec.approvals.get and retry",
    );
  }
  if (current.exists && baseHash !== current.hash) {
    throw new OpenClawError("wire.invalid-request", refusalTexts.stale("exec approvals", "exec.approvals.get"));
  }
  rejectMisspelled(next, (message) => new OpenClawError("wire.invalid-request", message));
  const socket = {
    ...current.file.socket,
    ...next.socket,
    path: next.socket?.path ?? current.file.socket?.path ?? join(state, "exec-approvals.sock"),
    token: current.file.socket?.token ?? newSecret(24),
  };
  const file: ApprovalsFile = {
    ...next,
    version: 1,
    socket,
    defaults: next.defaults ?? {},
    agents: withIds(next.agents ?? {}),
  };
  writeFileAtomic(current.path, `${JSON.stringify(file, null, 2)}\n`);
  return readApprovals(state);
}

/** Without the socket token, for the wire. */
export function withoutToken({ file, ...snapshot }: ApprovalsSnapshot): ApprovalsSnapshot {
  const { socket, ...rest } = file;
  const { token: _, ...shown } = socket ?? {};
  return { ...snapshot, file: { ...rest, ...(Object.keys(shown).length === 0 ? {} : { socket: shown }) } };
}

function parseApprovals(raw: string, path: string): ApprovalsFile {
  const hint = `correct ${path}; until then commands on this host are blocked`;
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (cause) {
    throw new OpenClawError("approvals.unreadable", `${path} is not JSON`, { cause, hint });
  }
  const file = migrated(value);
  const issues = fileChecker.issues(file);
  if (issues.length > 0)
    throw new OpenClawError("approvals.unreadable", `${path}: ${describeIssues(issues.slice(0, 5))}`, { hint });
  rejectMisspelled(
    file as ApprovalsFile,
    (message) => new OpenClawError("approvals.unreadable", `${path}: ${message}`, { hint }),
  );
  return file as ApprovalsFile;
}

/** A misspelled rule would have no effect. Other unknown keys belong to other programs. */
function rejectMisspelled(file: ApprovalsFile, error: (message: string) => OpenClawError): void {
  const wrong = unknownKeys(file).find(({ meant }) => meant !== undefined);
  if (wrong !== undefined) throw error(`${visible(wrong.path, 200)} is not a known rule; did you mean ${wrong.meant}?`);
}

/** Older spellings: `agents.default` is `agents.main`, a bare string in an allowlist is its pattern. */
export function migrated(value: unknown): unknown {
  if (
    typeof value !== "object" ||
    value === null ||
    !("agents" in value) ||
    typeof value.agents !== "object" ||
    value.agents === null
  )
    return value;
  const { default: legacy, ...agents } = value.agents as Record<string, OldRules>;
  const named = legacy === undefined ? agents : { ...agents, main: joined(legacy, agents["main"]) };
  const entries = Object.entries(named).map(([id, agent]) => [id, withPatterns(agent)]);
  return { ...value, agents: Object.fromEntries(entries) as unknown };
}

interface OldRules {
  readonly allowlist?: unknown[];
}

/** Both apply to the same agent, so a rule that is set in only one of them stays in force. */
function joined(legacy: OldRules, main: OldRules | undefined): OldRules {
  if (main === undefined || !isRecord(legacy) || !isRecord(main)) return main ?? legacy;
  if (!Array.isArray(legacy.allowlist) || !Array.isArray(main.allowlist)) return { ...legacy, ...main };
  return { ...legacy, ...main, allowlist: [...main.allowlist, ...legacy.allowlist] };
}

function withPatterns(agent: OldRules): unknown {
  if (!Array.isArray(agent?.allowlist)) return agent;
  return {
    ...agent,
    allowlist: agent.allowlist.map((entry) => (typeof entry === "string" ? { pattern: entry } : entry)),
  };
}

function withIds(agents: NonNullable<ApprovalsFile["agents"]>): NonNullable<ApprovalsFile["agents"]> {
  return Object.fromEntries(
    Object.entries(agents).map(([id, agent]) => [
      id,
      agent.allowlist === undefined
        ? agent
        : { ...agent, allowlist: agent.allowlist.map((entry) => ({ ...entry, id: entry.id ?? newId() })) },
    ]),
  );
}
