// `openclaw browser` commands that read a page: snapshots, pictures, console, errors, requests.
import { writeFileSync } from "node:fs";

import { browserCommand, listOf, milliseconds, tabOption, textOf, type Answer } from "../browser-request.ts";
import type { Command } from "../command.ts";
import { wholeNumber } from "../parse.ts";

const MAX_NUMBER = 1_000_000_000;
const clear = { clear: { type: "boolean", description: "Also forget them." } } as const;

export const commands: Readonly<Record<string, Command>> = {
  snapshot: browserCommand({
    details: "The numbers in square brackets are references: click, type and the other commands take them.",
    options: {
      ...tabOption,
      format: {
        type: "string",
        choices: ["ai", "aria"],
        description: "ai for text with references; aria for the accessibility tree (default: ai).",
      },
      limit: { type: "string", value: "count", description: "Most nodes of an aria snapshot." },
      interactive: { type: "boolean", description: "Only elements that can be used." },
      compact: { type: "boolean", description: "Without empty structure." },
      depth: { type: "string", value: "levels", description: "How deep the tree is printed." },
      selector: { type: "string", value: "css", description: "Only this part of the page." },
      frame: { type: "string", value: "css", description: "Only the page in this iframe." },
      find: { type: "string", value: "text", description: "Only lines with this text or role, and where they are." },
      refs: { type: "string", choices: ["role", "aria"], description: "Form of the references." },
      "max-chars": { type: "string", value: "count", description: "Most characters; 0 for all." },
      efficient: { type: "boolean", description: "Short for --mode efficient." },
      mode: { type: "string", choices: ["efficient"], description: "A short form: interactive, compact, less deep." },
      labels: { type: "boolean", description: "Also save a picture with the references drawn on it." },
      out: { type: "string", value: "file", description: "Write the snapshot to a file." },
    },
    examples: [
      { line: "browser snapshot", does: "the page as text, with a number for each element" },
      { line: "browser snapshot --interactive --labels", does: "what can be used, and a picture with the numbers" },
      { line: "browser snapshot --find Price", does: "look into a large page" },
      { line: "browser snapshot --format aria --limit 200 --json", does: "the accessibility tree" },
    ],
    async request(client, { options }) {
      const { format = "ai", out } = options;
      const answer = await client.get("/snapshot", {
        format,
        targetId: options["target-id"],
        limit: count("limit", options.limit),
        interactive: options.interactive,
        compact: options.compact,
        depth: count("depth", options.depth),
        selector: options.selector,
        frame: options.frame,
        find: options.find,
        refs: options.refs,
        maxChars: count("max-chars", options["max-chars"]),
        mode: options.efficient === true ? "efficient" : options.mode,
        labels: options.labels,
      });
      if (out === undefined) return answer;
      writeFileSync(out, client.io.json ? `${JSON.stringify(answer, undefined, 2)}\n` : `${snapshotText(answer)}\n`);
      return { ok: true, out, ...(answer["imagePath"] === undefined ? {} : { imagePath: answer["imagePath"] }) };
    },
    text: (answer) =>
      answer["out"] === undefined
        ? [snapshotText(answer), ...mediaLine(answer, "imagePath")].join("\n")
        : [textOf(answer, "out"), ...mediaLine(answer, "imagePath")].join("\n"),
  }),
  screenshot: browserCommand({
    arguments: [{ name: "targetId", description: "Tab (default: the one that was used last).", optional: true }],
    options: {
      "full-page": { type: "boolean", description: "The whole page, not only what is visible." },
      ref: { type: "string", value: "ref", description: "Only this element of the last snapshot." },
      element: { type: "string", value: "css", description: "Only the first element with this selector." },
      type: { type: "string", choices: ["png", "jpeg"], description: "Format of the picture (default: png)." },
    },
    examples: [
      { line: "browser screenshot", does: "prints MEDIA: and the path of the file" },
      { line: "browser screenshot --full-page --type jpeg", does: "the whole page" },
      { line: "browser screenshot --ref 12", does: "one element" },
    ],
    request: (client, { arguments: [targetId], options: { "full-page": fullPage, ref, element, type } }) =>
      client.post("/screenshot", { targetId, fullPage, ref, element, type }),
    text: (answer) => mediaLine(answer, "path").join("\n"),
  }),
  pdf: browserCommand({
    options: tabOption,
    examples: [{ line: "browser pdf", does: "prints FILE: and the path of the PDF" }],
    request: (client, { options }) => client.post("/pdf", { targetId: options["target-id"] }),
    text: (answer) => `FILE:${textOf(answer, "path")}`,
  }),
  console: browserCommand({
    options: {
      ...tabOption,
      ...clear,
      level: {
        type: "string",
        choices: ["error", "warn", "info"],
        description: "The least severe level (default: info).",
      },
    },
    examples: [{ line: "browser console --level error", does: "what went wrong on the page" }],
    request: (client, { options: { level, clear: clears, "target-id": targetId } }) =>
      client.get("/console", { level, clear: clears, targetId }),
    text: (answer) => lines(answer, "messages", (entry) => `${textOf(entry, "type")}: ${textOf(entry, "text")}`),
  }),
  errors: browserCommand({
    options: { ...tabOption, ...clear },
    examples: [{ line: "browser errors --clear", does: "uncaught errors of the page" }],
    request: (client, { options }) => client.get("/errors", { clear: options.clear, targetId: options["target-id"] }),
    text: (answer) => lines(answer, "errors", (entry) => `${textOf(entry, "timestamp")} ${textOf(entry, "message")}`),
  }),
  requests: browserCommand({
    options: {
      ...tabOption,
      ...clear,
      filter: { type: "string", value: "text", description: "Only URLs that contain this text." },
    },
    examples: [{ line: "browser requests --filter /api/", does: "method, status and URL" }],
    request: (client, { options: { filter, clear: clears, "target-id": targetId } }) =>
      client.get("/requests", { filter, clear: clears, targetId }),
    text: (answer) =>
      lines(answer, "requests", (entry) => {
        const result = textOf(entry, "status") || textOf(entry, "failureText") || "pending";
        return `${textOf(entry, "method")} ${result} ${textOf(entry, "url")}`;
      }),
  }),
  responsebody: browserCommand({
    arguments: [{ name: "url", description: "URL with * and **, such as '**/api/items*'." }],
    options: {
      ...tabOption,
      "timeout-ms": { type: "string", value: "ms", description: "How long to wait for the response (default: 30000)." },
      "max-chars": { type: "string", value: "count", description: "Most characters of the body (default: 200000)." },
    },
    examples: [{ line: "browser responsebody '**/api/items*'", does: "the next response with such a URL" }],
    request(client, { arguments: [url = ""], options }) {
      const timeoutMs = milliseconds("timeout-ms", options["timeout-ms"]);
      const maxChars = count("max-chars", options["max-chars"]);
      return client.post("/response/body", { url, maxChars, timeoutMs, targetId: options["target-id"] }, timeoutMs);
    },
    text: (answer) => textOf((answer["response"] ?? {}) as Answer, "body"),
  }),
};

function count(name: string, text: string | undefined): number | undefined {
  return wholeNumber(name, text, { min: 0, max: MAX_NUMBER });
}

function snapshotText(answer: Answer): string {
  const nodes = listOf(answer, "nodes");
  if (nodes.length === 0) return textOf(answer, "snapshot");
  return nodes
    .map((node) => {
      const name = textOf(node, "name");
      return `${"  ".repeat(Number(node["depth"] ?? 0))}- ${textOf(node, "role")}${name === "" ? "" : ` ${JSON.stringify(name)}`}`;
    })
    .join("\n");
}

const mediaLine = (answer: Answer, name: string): string[] =>
  answer[name] === undefined ? [] : [`MEDIA:${textOf(answer, name)}`];

function lines(answer: Answer, name: string, print: (entry: Answer) => string): string {
  const entries = listOf(answer, name);
  return entries.length === 0 ? `No ${name}.` : entries.map(print).join("\n");
}
