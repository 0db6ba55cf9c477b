// Rejects words that only this code base used: the field has a better-known word for each (docs/glossary.md).
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { root } from "./ground.mjs";

interface BannedWord {
  readonly pattern: RegExp;
  readonly use: string;
  /** Folders that still have it. Remove a folder here when its text is rewritten; never add one. */
  readonly pending?: readonly string[];
}

export const bannedWords: readonly BannedWord[] = [
  {
    pattern: /\bHouseErrors?\b/,
    use: "OpenClawError",
    pending: [
      "ARCHITECTURE.md",
      "src/agent",
      "src/base",
      "src/config",
      "src/core",
      "src/exec",
      "src/memory",
      "src/store",
    ],
  },
  {
    pattern: /\bthe house(?:'s)?\b/,
    use: "the gateway, the runtime",
    pending: [
      "ARCHITECTURE.md",
      "docs/conformance-automation.md",
      "scripts/check-law.test.ts",
      "src/agent",
      "src/base",
      "src/chat",
      "src/core",
      "src/cron",
      "src/gateway",
      "src/memory",
      "src/model",
      "src/store",
      "src/tool",
      "test/attack",
      "test/e2e",
      "test/harness",
    ],
  },
  {
    pattern: /\bmend(?:s|ed|ing)?\b/,
    use: "fix, repair",
    pending: [
      "docs/conformance-automation.md",
      "docs/conformance-exec.md",
      "scripts/test.ts",
      "src/agent",
      "src/config",
      "src/core",
      "src/cron",
      "src/gateway",
      "src/memory",
      "src/model",
      "src/plugin",
      "test/attack",
      "test/e2e",
    ],
  },
  {
    pattern: /\banew\b/,
    use: "again",
    pending: [
      "docs/conformance-automation.md",
      "src/agent",
      "src/base",
      "src/chat",
      "src/config",
      "src/cron",
      "src/gateway",
      "src/memory",
      "src/model",
      "src/plugin",
      "src/session",
      "src/store",
      "src/tool",
      "test/e2e",
    ],
  },
  {
    pattern: /\bwish(?:es)?\b/,
    use: "options, request",
    pending: [
      "docs/conformance-automation.md",
      "src/agent",
      "src/app",
      "src/cron",
      "src/exec",
      "src/gateway",
      "src/memory",
      "src/model",
      "src/node",
      "src/security",
      "src/session",
      "src/tool",
      "test/attack",
      "test/e2e",
      "test/fakes",
    ],
  },
  {
    pattern: /\bstrangers?\b/,
    use: "sender, untrusted content",
    pending: [
      "ARCHITECTURE.md",
      "docs/conformance-automation.md",
      "src/chat",
      "src/exec",
      "src/security",
      "src/session",
      "src/store",
      "src/tool",
      "test/attack",
      "test/e2e",
      "test/harness",
    ],
  },
  { pattern: /\bit holds (?:at once|from|after|until)\b/, use: "applied immediately, applies after" },
  {
    pattern: /\bruling \d+/,
    use: "docs/decisions/NNNN-name.md",
    pending: [
      "docs/conformance-automation.md",
      "src/agent",
      "src/base",
      "src/config",
      "src/exec",
      "src/gateway",
      "src/model",
      "src/protocol",
      "src/tool",
    ],
  },
  { pattern: /\bthe mission\b/, use: "docs/decisions/NNNN-name.md", pending: ["ARCHITECTURE.md"] },
  { pattern: /\bof late\b/, use: "recently", pending: ["src/store"] },
  { pattern: /\bis too much\b/, use: "unexpected argument", pending: ["src/exec", "test/attack"] },
  { pattern: /\btaken over at once\b/, use: "applied immediately" },
  { pattern: /\bmade known\b/, use: "announced, registered" },
  { pattern: /\bin so many words\b/, use: "explicitly", pending: ["src/config"] },
  { pattern: /\blaundering\b/, use: "trust escalation" },
  {
    pattern: /\ball is well\b|\b0 well\b/,
    use: "no problems found, success",
    pending: ["docs/cli.md", "scripts/setup.mjs", "src/chat", "src/cli", "src/config", "src/exec", "test/e2e"],
  },
];

export interface FoundWord {
  readonly file: string;
  readonly line: number;
  readonly word: string;
  readonly use: string;
}

export function findBannedWords(file: string, text: string, words: readonly BannedWord[] = bannedWords): FoundWord[] {
  const active = words.filter(({ pending = [] }) => !pending.some((folder) => isIn(file, folder)));
  return text
    .split("\n")
    .flatMap((content, index) =>
      active.flatMap(({ pattern, use }) =>
        [...content.matchAll(new RegExp(pattern, "gi"))].map(([word]) => ({ file, line: index + 1, word, use })),
      ),
    );
}

const isIn = (file: string, folder: string): boolean => file === folder || file.startsWith(`${folder}/`);

/** Generated and recorded files say what their sources say. */
const skipped = /\.snap\.|^docs\/(?:config|tools|cli)\/|^test\/(?:fixtures|scenarios|golden)\/|check-words/;

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
