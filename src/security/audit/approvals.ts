// The approvals file: can it be read, does it open more than it seems, and which entries allow more than one program.
import { resolve } from "node:path";

import { expandHome } from "../../base/paths.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import { OpenClawError } from "../../core/error.ts";
import { approvalsPath } from "../../exec/policy/file.ts";
import { shellWord, statOf } from "./files.ts";
import type { Finding, Ground } from "./finding.ts";
import { programKind } from "./programs.ts";
import { within } from "./sandbox.ts";

interface Level {
  readonly security?: string | undefined;
  readonly ask?: string | undefined;
  readonly askFallback?: string | undefined;
  readonly autoAllowSkills?: boolean | undefined;
}

export function checkApprovals(ground: Ground): Finding[] {
  const { approvals } = ground;
  if (approvals instanceof OpenClawError) return [unreadable(ground, approvals)];
  const { file } = approvals;
  const agents = Object.entries(file.agents ?? {});
  return [
    ...levelFindings(ground, "defaults", file.defaults ?? {}),
    ...agents.flatMap(([agent, level]) => levelFindings(ground, `agents.${agent}`, level)),
    ...agents.flatMap(([agent, { allowlist = [] }]) =>
      allowlist.flatMap(({ pattern }) => entryFindings(ground, agent, pattern)),
    ),
  ];
}

function unreadable({ paths }: Ground, error: OpenClawError): Finding {
  return {
    id: "approvals.unreadable",
    weight: "high",
    what: `the approvals cannot be read: ${error.message}`,
    why: "commands on this host are blocked until it is fixed",
    where: { file: approvalsPath(paths.state) },
    fix: `openclaw approvals get # says what cannot be read in ${approvalsPath(paths.state)}`,
  };
}

function levelFindings(
  { paths }: Ground,
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
      what: `approvals ${place}: when nobody can be asked, every command runs (askFallback=full)`,
      why: "closing the page is then the same as saying yes",
      where,
      fix,
    });
  if (security === "full")
    found.push({
      id: "approvals.full",
      weight: ask === "always" ? "low" : "medium",
      what: `approvals ${place}: security is full, so only the config decides`,
      why: "the file is the second lock; open, one edit of the config is enough",
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

function entryFindings(ground: Ground, agent: string, pattern: string): Finding[] {
  const { paths } = ground;
  const where = { file: approvalsPath(paths.state), path: `agents.${agent}.allowlist` };
  const fix = `openclaw approvals allowlist remove ${shellWord(pattern)}${agent === "*" ? "" : ` --agent ${shellWord(agent)}`}`;
  const finding = (id: string, weight: Finding["weight"], what: string, why: string): Finding[] => [
    { id, weight, what, why, where, fix },
  ];
  if (!/[/\\]/.test(pattern))
    return finding(
      "approvals.dead-entry",
      "info",
      `the entry ${pattern} allows nothing: it is no path`,
      "entries are matched against whole paths of programs",
    );
  if (isWide(pattern))
    return finding(
      "approvals.wide-entry",
      "high",
      `the entry ${pattern} allows every program in its folders`,
      "shells and interpreters among them, and those run anything",
    );
  const kind = programKind(pattern);
  if (kind !== undefined && !/[*?[]/.test(pattern.slice(pattern.lastIndexOf("/"))))
    return finding(
      "approvals.runs-others",
      "high",
      `the entry ${pattern} is allowed without asking, but ${kind}`,
      "allowing it allows every command, spelled as its arguments",
    );
  const folder = resolve(expandHome(pattern.slice(0, pattern.search(/[*?[]|[^/]*$/)), paths.home));
  const reason = writableReason(ground, folder);
  if (reason === undefined) return [];
  return finding(
    "approvals.writable-entry",
    "high",
    `the entry ${pattern} allows programs in ${folder}, and ${reason}`,
    "whoever can put a file there can run it unasked",
  );
}

/** A wildcard as the last name, in a place many programs share. */
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

function writableReason({ paths, loaded }: Ground, folder: string): string | undefined {
  const spaces = loaded.valid ? agentIds(loaded.config).map((agent) => workspaceOf(loaded.config, agent, paths)) : [];
  if (spaces.some((space) => within(folder, space))) return "that is a workspace, where agents write";
  if (["/tmp", "/var/tmp", "/dev/shm"].some((temp) => within(folder, temp))) return "everybody may write there";
  const mode = statOf(folder)?.mode ?? 0;
  return (mode & 0o002) !== 0 ? "everybody may write there" : undefined;
}
