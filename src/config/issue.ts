// One problem of a config, with its location.
import { shortenHome } from "../base/paths.ts";

export interface ConfigIssue {
  /** As `formatPath` writes it; `(root)` for the file as a whole. */
  readonly path: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** How to fix it. */
  readonly hint?: string;
}

export const rootPath = "(root)";

/** `~/.openclaw/openclaw.json:3:5  gateway.portt: unknown key (did you mean port?)`; `home` shortens the path. */
export function describeIssue(issue: ConfigIssue, home?: string): string {
  const { path, message, line, column, hint } = issue;
  const file = issue.file === undefined || home === undefined ? issue.file : shortenHome(issue.file, home);
  const place = file === undefined ? "" : `${[file, line, column].filter((part) => part !== undefined).join(":")}  `;
  return `${place}${path}: ${message}${hint === undefined ? "" : ` (${hint})`}`;
}
