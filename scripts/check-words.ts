// Rejects words that only this code base used: the field has a better-known word for each (docs/glossary.md).
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { root } from "./project.mjs";

interface BannedWord {
  readonly pattern: RegExp;
  readonly use: string;
}

export const bannedWords: readonly BannedWord[] = [
  {
    pattern: /\bHouseErrors?\b/,
    use: "OpenClawError",
  },
  {
    pattern: /\bthe house(?:'s)?\b/,
    use: "the gateway, the runtime",
  },
  {
    pattern: /\bmend(?:s|ed|ing)?\b/,
    use: "fix, repair",
  },
  {
    pattern: /\banew\b/,
    use: "again",
  },
  {
    pattern: /\bwish(?:es)?\b/,
    use: "options, request",
  },
  {
    // Not inside a finding id (`tools.open-to-strangers`), which is part of the JSON output.
    pattern: /(?<!-)\bstrangers?\b/,
    use: "sender, untrusted content",
  },
  { pattern: /\bit holds (?:at once|from|after|until)\b/, use: "applied immediately, applies after" },
  {
    pattern: /\bruling \d+/,
    use: "docs/decisions/NNNN-name.md",
  },
  { pattern: /\bthe mission\b/, use: "docs/decisions/NNNN-name.md" },
  { pattern: /\bof late\b/, use: "recently" },
  { pattern: /\bis too much\b/, use: "unexpected argument" },
  { pattern: /\btaken over at once\b/, use: "applied immediately" },
  { pattern: /\bmade known\b/, use: "announced, registered" },
  { pattern: /\bin so many words\b/, use: "explicitly" },
  { pattern: /\blaundering\b/, use: "trust escalation" },
  { pattern: /\bhears? of\b/, use: "is notified of" },
  { pattern: /\bfor good\b/, use: "permanently, always" },
  { pattern: /\bnobody (?:is|was|has|can|reads|waits|keeps)\b/, use: "name the subject" },
  {
    pattern: /\ball is well\b|\b0 well\b/,
    use: "no problems found, success",
  },
];

export interface FoundWord {
  readonly file: string;
  readonly line: number;
  readonly word: string;
  readonly use: string;
}

export function findBannedWords(file: string, text: string, words: readonly BannedWord[] = bannedWords): FoundWord[] {
  return text
    .split("\n")
    .flatMap((content, index) =>
      words.flatMap(({ pattern, use }) =>
        [...content.matchAll(new RegExp(pattern, "gi"))].map(([word]) => ({ file, line: index + 1, word, use })),
      ),
    );
}

/** Generated and recorded files repeat the text of their sources. */
const skipped = /\.snap\.|^docs\/(?:config\/|tools\/|cli\.md)|^test\/(?:fixtures|scenarios|golden)\/|check-words/;

export function proseFiles(): string[] {
  return globSync("{src,ui,test,docs,scripts}/**/*.{ts,mjs,md,html,css}", { cwd: root })
    .concat(globSync("*.md", { cwd: root }))
    .filter((file) => !file.includes("node_modules") && !skipped.test(file));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const found = proseFiles().flatMap((file) => findBannedWords(file, readFileSync(join(root, file), "utf8")));
  for (const { file, line, word, use } of found) process.stderr.write(`${file}:${line}: "${word}"; use: ${use}\n`);
  process.exit(found.length === 0 ? 0 : 1);
}
