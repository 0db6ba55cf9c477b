// Checks an allowlist pattern: rejects one that can never match, and recognizes one that matches everything.
import { OpenClawError } from "../core/error.ts";
import { spelledOut } from "../core/visible.ts";

/** Throws with the reason. */
export function requirePattern(pattern: string): void {
  const why = neverMatches(pattern);
  if (why === undefined) return;
  throw new OpenClawError("approvals.bad-pattern", `${JSON.stringify(spelledOut(pattern))} ${why}`, {
    hint: "write the whole path, for example /usr/bin/rg, ~/bin/* or /opt/tools/**",
  });
}

export function neverMatches(pattern: string): string | undefined {
  if (pattern.trim() === "") return "is empty";
  if (pattern !== pattern.trim() || spelledOut(pattern) !== pattern)
    return "has whitespace at an end or invisible characters, and no program has such a path";
  if (!pattern.includes("/"))
    return "has no slash: patterns match the whole path of a program, never its name, so it would match nothing";
  if (!/^(?:\/|~\/|\*\*\/)/.test(pattern)) return "does not start with /, ~/ or **/, so it would match nothing";
  if (pattern.split("/").some((part) => part === "." || part === ".."))
    return "contains . or .. as a folder; paths are resolved before they are matched, so it would match nothing";
  return undefined;
}

/** True for a pattern that matches every program, also shells and interpreters. */
export function matchesAll(pattern: string): boolean {
  return /^(?:\/?\*\*(?:\/\*\*)*(?:\/\*)?)$/.test(pattern);
}
