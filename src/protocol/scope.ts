// Roles and scopes: what a connection must hold to call a method.

export type Role = "operator" | "node";

export const operatorScopes = [
  "operator.read",
  "operator.write",
  "operator.admin",
  "operator.approvals",
  "operator.pairing",
] as const;
export type Scope = (typeof operatorScopes)[number];

/** `operator.admin` includes all scopes, `operator.write` includes `operator.read`. */
export function holdsScope(held: readonly string[], needed: Scope): boolean {
  if (held.includes(needed) || held.includes("operator.admin")) return true;
  return needed === "operator.read" && held.includes("operator.write");
}

/** True when every requested scope is held; an unknown scope never is. */
export function coversScopes(held: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((scope) => isScope(scope) && holdsScope(held, scope));
}

export function isScope(word: string): word is Scope {
  return (operatorScopes as readonly string[]).includes(word);
}
