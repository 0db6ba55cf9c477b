// A problem in a config, with its path, file and line.

export interface ConfigIssue {
  /** As `formatPath` writes it; `(root)` for the file as a whole. */
  readonly path: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** What to do about it. */
  readonly hint?: string;
}

export const rootPath = "(root)";

/** `openclaw.json:3:5 gateway.portt: unknown key (did you mean port?)` */
export function describeIssue(issue: ConfigIssue): string {
  const { path, message, file, line, column, hint } = issue;
  const place = file === undefined ? "" : `${[file, line, column].filter((part) => part !== undefined).join(":")} `;
  return `${place}${path}: ${message}${hint === undefined ? "" : ` (${hint})`}`;
}
