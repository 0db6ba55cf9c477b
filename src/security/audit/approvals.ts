// Checks the approvals file: whether it is readable, what it allows by default, and entries that allow more than one program.
import { resolve } from "node:path";

import { expandHome } from "../../base/paths.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import { OpenClawError } from "../../core/error.ts";
import { approvalsPath } from "../../exec/policy/file.ts";
import { shellWord, statOf } from "./files.ts";
import type { Finding, AuditContext } from "./finding.ts";
import { programKind } from "./programs.ts";
import { within } from "./sandbox.ts";

interface Level {
  readonly security?: string | undefined;
  readonly ask?: string | undefined;
  readonly askFallback?: string | undefined;
  readonly autoAllowSkills?: boolean | undefined;
}

export function checkApprovals(context: AuditContext): Finding[] {
  const { approvals } = context;
  if (approvals instanceof OpenClawError) return [unreadable(context, approvals)];
  const { file } = approvals;
  const agents = Object.entries(file.agents ?? {});
  return [
    ...levelFindings(context, "defaults", file.defaults ?? {}),
    ...agents.flatMap(([agent, level]) => levelFindings(context, `agents.${agent}`, level)),
    ...agents.flatMap(([agent, { allowlist = [] }]) =>
      allowlist.flatMap(({ pattern }) => entryFindings(context, agent, pattern)),
    ),
  ];
}

function unreadable({ paths }: AuditContext, error: OpenClawError): Finding {
  return {
    id: "approvals.unreadable",
    weight: "high",
    what: `the approvals cannot be read: ${error.message}`,
    why: "commands on this host are blocked until it is fixed",
    where: { file: approvalsPath(paths.state) },
    fix: `openclaw approvals get # shows what cannot be read in ${approvalsPath(paths.state)}`,
  };
}

function levelFindings(
  { paths }: AuditContext,
  place: string,
  { security, ask, askFallback, autoAllowSkills }: Level,
): Finding[] {
  const where = { file: approvalsPath(paths.state), path: place };
  const fix = `openclaw dashboard # then Nodes, Exec approvals, Scope: ${place === "defaults" ? "Defaults" : place}`;
  const found: Finding[] = [];
  if (askFallback === "full")
    found.push({
      id: "approvals.fallback-full",
      weight: "critical",
      what: `approvals ${place}: when no person can be asked, every command runs (askFallback=full)`,
      why: "closing the page then approves everything",
      where,
      fix,
    });
  if (security === "full")
    found.push({
      id: "approvals.full",
      weight: ask === "always" ? "low" : "medium",
      what: `approvals ${place}: security is full, so only the config decides`,
      why: "the file is the second barrier; without it one edit of the config is enough",
      where,
      fix,
    });
  if (autoAllowSkills === true)
    found.push({
      id: "approvals.skills",
      weight: "low",
      what: `approvals ${place}: programs that skills name need no approval`,
      why: "installing a skill then also allows its programs",
      where,
      fix,
    });
  return found;
}

function entryFindings(context: AuditContext, agent: string, pattern: string): Finding[] {
  const { paths } = context;
  const where = { file: approvalsPath(paths.state), path: `agents.${agent}.allowlist` };
  const fix = `openclaw approvals allowlist remove ${shellWord(pattern)}${agent === "*" ? "" : ` --agent ${shellWord(agent)}`}`;
  const finding = (id: string, weight: Finding["weight"], what: string, why: string): Finding[] => [
    { id, weight, what, why, where, fix },
  ];
  if (!/[/\\]/.test(pattern))
    return finding(
      "approvals.dead-entry",
      "info",
      `the entry ${pattern} allows nothing: it is not a path`,
      "entries are compared with the full path of a program",
    );
  if (isWide(pattern))
    return finding(
      "approvals.wide-entry",
      "high",
      `the entry ${pattern} allows every program in its folders`,
      "these include shells and interpreters, which run anything",
    );
  const kind = programKind(pattern);
  if (kind !== undefined && !/[*?[]/.test(pattern.slice(pattern.lastIndexOf("/"))))
    return finding(
      "approvals.runs-others",
      "high",
      `the entry ${pattern} allows a program without asking, but ${kind}`,
      "its arguments can contain any command",
    );
  const folder = resolve(expandHome(pattern.slice(0, pattern.search(/[*?[]|[^/]*$/)), paths.home));
  const reason = writableReason(context, folder);
  if (reason === undefined) return [];
  return finding(
    "approvals.writable-entry",
    "high",
    `the entry ${pattern} allows programs in ${folder}, and ${reason}`,
    "whoever can write a file there can run it without approval",
  );
}

/** True when the last name is a wildcard in a folder that many programs share. */
function isWide(pattern: string): boolean {
  const last = pattern.slice(pattern.lastIndexOf("/") + 1);
  if (/\*\*/.test(last)) return true;
  return (
    /^[*?]+$/.test(last) &&
    /^(?:~|\/|\/(?:usr(?:\/local)?\/)?s?bin|\/opt.*|\/nix.*|\/home.*|\/root.*|.*\*.*)$/.test(
      pattern.slice(0, pattern.lastIndexOf("/")) || "/",
    )
  );
}

function writableReason({ paths, loaded }: AuditContext, folder: string): string | undefined {
  const spaces = loaded.valid ? agentIds(loaded.config).map((agent) => workspaceOf(loaded.config, agent, paths)) : [];
  if (spaces.some((space) => within(folder, space))) return "that is a workspace, where agents write";
  if (["/tmp", "/var/tmp", "/dev/shm"].some((temp) => within(folder, temp))) return "every user can write there";
  const mode = statOf(folder)?.mode ?? 0;
  return (mode & 0o002) !== 0 ? "every user can write there" : undefined;
}
