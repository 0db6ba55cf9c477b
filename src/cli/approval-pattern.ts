// A pattern of the allowlist as a person gives it: refused when it could never match, named when it matches everything.
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
    return "holds blanks at an end or characters that cannot be seen; no program has such a path";
  if (!pattern.includes("/"))
    return "has no slash: programs are matched by their whole path, never by name, so it would match nothing";
  if (!/^(?:\/|~\/|\*\*\/)/.test(pattern)) return "does not begin with /, ~/ or **/: it would match nothing";
  if (pattern.split("/").some((part) => part === "." || part === ".."))
    return "holds . or .. as a folder; paths are matched after those are resolved, so it would match nothing";
  return undefined;
}

/** Every program there is, shells and interpreters too. */
export function matchesAll(pattern: string): boolean {
  return /^(?:\/?\*\*(?:\/\*\*)*(?:\/\*)?)$/.test(pattern);
}
