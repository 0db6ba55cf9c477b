// Rewrites host paths in text for a sandboxed session: its own folders get their inside names, others are hidden.
import { canonicalPath } from "./sandbox/hidden-paths.ts";
import type { SandboxPaths } from "./sandbox-paths.ts";

const HIDDEN = "(outside the sandbox)";

/** `hidden` are host folders that no sandbox shows under their own path: the state folder and the home. */
export function insideNames(
  { workspace, inside, agentWorkspace }: SandboxPaths,
  hidden: readonly string[],
): (text: string) => string {
  const names: readonly (readonly [host: string, name: string])[] = [
    [workspace, inside],
    ...(agentWorkspace === undefined ? [] : [[agentWorkspace, "/agent"] as const]),
    ...hidden.map((path) => [path, HIDDEN] as const),
  ];
  const rows = names
    .flatMap(([host, name]) => [...new Set([host, canonicalPath(host)])].map((path) => ({ path, name })))
    .filter(({ path, name }) => path !== "/" && path !== name)
    .toSorted((a, b) => b.path.length - a.path.length)
    .map(({ path, name }) => ({ path, name, pattern: patternOf(path, name === HIDDEN) }));
  return (text) =>
    rows.reduce((sum, { path, name, pattern }) => (sum.includes(path) ? sum.replace(pattern, name) : sum), text);
}

/** Matches whole path segments only; for hidden folders also everything below. */
function patternOf(path: string, isHidden: boolean): RegExp {
  const end = isHidden ? String.raw`(?:/[^\s"'\\<>:,;)]*)?(?![\w-])` : String.raw`(?![\w-]|\.\w)`;
  return new RegExp(`(?<![\\w.-])${path.replace(/[^\w/]/g, "\\$&")}${end}`, "g");
}
