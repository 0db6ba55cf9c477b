// Reads the YAML front matter of a Markdown file, strictly: every unclear or unsupported construct is an error with its line.
import { createRequire } from "node:module";
import type * as Yaml from "yaml";

import { OpenClawError } from "../core/error.ts";

export interface FrontMatter {
  /** Plain data; keys are own properties. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const MAX_HEAD_CHARS = 65_536;
const MAX_DEPTH = 20;

/** Throws `front-matter.bad` with the line. A file without front matter has no fields. */
export function parseFrontMatter(text: string): FrontMatter {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  if (lines[0]?.trimEnd() !== "---") return { fields: {}, body: text };
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  if (end < 0) throw invalid(1, "the front matter is not closed by a line of ---");
  const head = lines.slice(1, end).join("\n");
  if (head.length > MAX_HEAD_CHARS) throw invalid(1, `the front matter is longer than ${MAX_HEAD_CHARS} characters`);
  return { fields: parseFields(head), body: lines.slice(end + 1).join("\n") };
}

function parseFields(head: string): Record<string, unknown> {
  const yaml = loadYaml();
  const lineCounter = new yaml.LineCounter();
  // The opening --- is line 1 of the file.
  const lineAt = (node: unknown): number => lineCounter.linePos((node as Yaml.Node).range?.[0] ?? 0).line + 1;
  const document = yaml.parseDocument(head, {
    schema: "failsafe",
    customTags: ["null", "bool", jsonNumber],
    stringKeys: true,
    prettyErrors: false,
    lineCounter,
    logLevel: "silent",
  });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined)
    throw invalid(
      lineCounter.linePos(problem.pos[0]).line + 1,
      problem.code === "RESOURCE_EXHAUSTION" ? TOO_DEEP : problem.message,
    );
  // Before any conversion: the library converts deeply nested documents very slowly.
  yaml.visit(document, {
    Node(_key, node, path) {
      if (path.filter(yaml.isCollection).length > MAX_DEPTH) throw invalid(lineAt(node), TOO_DEEP);
      if (yaml.isAlias(node) || node.anchor !== undefined) throw invalid(lineAt(node), "anchors are not supported");
      if (node.tag !== undefined) throw invalid(lineAt(node), "tags are not supported");
    },
    Pair(_key, { key, value }) {
      if (String(key) === "__proto__") throw invalid(lineAt(key), "a key must not be named __proto__");
      if (value === null) throw invalid(lineAt(key), `expected a colon after ${String(key)}`);
    },
  });
  if (document.contents === null) return {};
  if (!yaml.isMap(document.contents)) throw invalid(2, "front matter must consist of keys and values");
  return document.toJS({ maxAliasCount: 0 }) as Record<string, unknown>;
}

const TOO_DEEP = `values are nested deeper than ${MAX_DEPTH} levels`;

/** Numbers as in JSON only: versions and codes such as `01` or `1_000` stay text. */
const jsonNumber: Yaml.ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  identify: (value) => typeof value === "number",
  test: /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/,
  resolve: Number,
};

/** Loaded with the first front matter: most starts read none, and the library costs more than the rest of this folder. */
function loadYaml(): typeof Yaml {
  return createRequire(import.meta.url)("yaml") as typeof Yaml;
}

function invalid(line: number, reason: string): OpenClawError {
  return new OpenClawError("front-matter.bad", `line ${line}: ${reason}`, {
    hint: "write keys and values in YAML, without anchors and tags",
  });
}
