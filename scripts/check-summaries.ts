// Fails when two entries of the command table share a summary or a name, or a command file declares a summary itself.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { entries, groups } from "../src/cli/commands/index.ts";
import { root } from "./project.mjs";

interface Declared {
  readonly path: readonly string[];
  readonly summary: string;
}

export function findRepeats(declared: readonly Declared[]): string[] {
  const names = Map.groupBy(declared, ({ path }) => path.join(" "));
  // Aliases of one command share the summary that names it.
  const own = declared.filter(({ summary }) => !summary.includes("(same as "));
  const summaries = Map.groupBy(own, ({ summary }) => summary);
  return [
    ...[...names].flatMap(([name, { length }]) => (length > 1 ? [`openclaw ${name} is declared ${length} times`] : [])),
    ...[...summaries].flatMap(([summary, sharing]) =>
      sharing.length > 1
        ? [`${sharing.map(({ path }) => path.join(" ")).join(", ")} share the summary ${JSON.stringify(summary)}`]
        : [],
    ),
  ];
}

/** The table in index.ts has the summary of each command, so a command file must not repeat it. */
export function declaresSummary(source: string): boolean {
  return /^ {2}summary:/m.test(source);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const files = globSync("src/cli/commands/*.ts", { cwd: root }).filter((file) => !file.endsWith("index.ts"));
  const problems = [
    ...findRepeats([...groups, ...entries]),
    ...files
      .filter((file) => declaresSummary(readFileSync(join(root, file), "utf8")))
      .map((file) => `${file} declares a summary; it belongs in src/cli/commands/index.ts only`),
  ];
  for (const problem of problems) process.stderr.write(`summaries: ${problem}\n`);
  process.exit(problems.length === 0 ? 0 : 1);
}
