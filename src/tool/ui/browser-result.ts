// Answers of a browser control service as a model reads them: short text, page content marked as untrusted, pictures as images.
import type { ControlAnswer } from "../../browser/control.ts";
import type { Block } from "../../core/message.ts";
import { isRecord, scalarText } from "../../core/record.ts";
import { neutralize, wrapUntrusted } from "../../base/untrusted-content.ts";
import { fitImage } from "../../media/fit-image.ts";
import type { MediaStore } from "../../media/store.ts";
import { json, type ToolResult } from "../tool.ts";
import type { BrowserAction } from "./browser-request.ts";

export interface ShowContext {
  readonly media: MediaStore;
  readonly signal: AbortSignal;
}

/** Larger pictures are scaled down for the model; the file stays as it is. */
const MAX_IMAGE_BYTES = 3_500_000;
/** Enough to tell tabs apart; the control service accepts a unique prefix. */
const ID_CHARS = 8;
const MAX_URL = 300;
const MAX_MESSAGES = 50;
const MAX_MESSAGE = 500;

export async function showAnswer(
  action: BrowserAction,
  answer: ControlAnswer,
  context: ShowContext,
): Promise<ToolResult> {
  switch (action) {
    case "snapshot":
      return { content: await snapshotBlocks(answer, context), details: answer };
    case "screenshot":
      return {
        content: [
          { type: "text", text: `${place(answer)}\nMEDIA:${String(answer["path"])}` },
          await imageBlock(answer["path"], context),
        ],
        details: answer,
      };
    case "pdf":
      return text(`${place(answer)}\nFILE:${String(answer["path"])}`, answer);
    case "act":
    case "open":
    case "navigate":
      return { ...text(changesText(answer), answer), ...(answer["ok"] === false ? { isError: true } : {}) };
    case "tabs":
      return text(tabsText(answer), answer);
    case "console":
      return text(consoleText(answer), answer);
    case "upload":
    case "dialog":
      return text(changesText(answer), answer);
    default:
      return json(answer);
  }
}

async function snapshotBlocks(answer: ControlAnswer, context: ShowContext): Promise<Block[]> {
  const { url, snapshot, nodes, truncated, imagePath } = answer;
  const page = Array.isArray(nodes) ? nodes.map(axLine).join("\n") : scalarText(snapshot);
  const lines = [
    place(answer),
    wrapUntrusted(`${shortUrl(url)}\n${page === "" ? "(nothing matches)" : page}`, "browser"),
    ...(truncated === true ? ["Cut at maxChars. Use find, selector or depth, or a larger maxChars."] : []),
    ...(typeof imagePath === "string" ? [`MEDIA:${imagePath}`] : []),
  ];
  const block: Block = { type: "text", text: lines.join("\n") };
  return typeof imagePath === "string" ? [block, await imageBlock(imagePath, context)] : [block];
}

function axLine(node: unknown): string {
  const { role, name, value, states, depth } = node as Record<string, unknown>;
  const flags = Array.isArray(states) ? states.map((state) => ` [${String(state)}]`).join("") : "";
  const shown = typeof value === "string" && value !== "" ? `: ${JSON.stringify(value)}` : "";
  return `${" ".repeat(Number(depth) || 0)}${String(role)} ${JSON.stringify(name ?? "")}${flags}${shown}`;
}

function changesText(answer: ControlAnswer): string {
  const { error, steps, result, changes, notes, closed, url } = answer;
  const facts = [place(answer)];
  if (typeof steps === "number") facts.push(`${steps} steps done`);
  if (closed === true) facts.push("the tab is closed");
  if (changes === NO_CHANGE) facts.push(NO_CHANGE);
  const page = [
    ...(changes === undefined ? [shortUrl(url)] : []),
    ...(Array.isArray(notes) ? notes.map(String) : []),
    ...(result === undefined ? [] : [`result: ${JSON.stringify(result)}`]),
    ...(typeof changes === "string" && changes !== NO_CHANGE ? [changes] : []),
  ].filter((line) => line !== "");
  return [
    ...(typeof error === "string" ? [neutralize(error)] : []),
    facts.join("; "),
    ...(page.length === 0 ? [] : [wrapUntrusted(page.join("\n"), "browser")]),
  ].join("\n");
}

/** Written by the control service when the page looks the same. */
const NO_CHANGE = "no visible change";

function tabsText(answer: ControlAnswer): string {
  const { running, tabs } = answer;
  if (!Array.isArray(tabs) || tabs.length === 0)
    return running === true ? "no tab is open" : "the browser is not running";
  const lines = tabs
    .filter(isRecord)
    .map(
      ({ targetId, title, url }) =>
        `${shortId(targetId)} ${shortUrl(url)} ${JSON.stringify(String(title).slice(0, 200))}`,
    );
  return wrapUntrusted(lines.join("\n"), "browser");
}

function consoleText(answer: ControlAnswer): string {
  const { messages } = answer;
  if (!Array.isArray(messages) || messages.length === 0) return `${place(answer)}; no messages`;
  const lines = messages
    .filter(isRecord)
    .slice(-MAX_MESSAGES)
    .map(({ type, text: words }) => `${String(type)}: ${String(words).slice(0, MAX_MESSAGE)}`);
  const earlier = messages.length > MAX_MESSAGES ? `; ${messages.length - MAX_MESSAGES} earlier messages left out` : "";
  return `${place(answer)}${earlier}\n${wrapUntrusted(lines.join("\n"), "browser")}`;
}

function place({ targetId }: ControlAnswer): string {
  return `tab ${shortId(targetId)}`;
}

function shortId(id: unknown): string {
  return scalarText(id).slice(0, ID_CHARS);
}

function shortUrl(url: unknown): string {
  return typeof url === "string" ? url.slice(0, MAX_URL) : "";
}

async function imageBlock(path: unknown, { media, signal }: ShowContext): Promise<Block> {
  const { handle, mimeType } = await media.open(String(path));
  try {
    const bytes = await handle.readFile();
    const shown = bytes.length > MAX_IMAGE_BYTES ? await fitImage(bytes, MAX_IMAGE_BYTES, signal) : { bytes, mimeType };
    return { type: "image", data: shown.bytes.toString("base64"), mimeType: shown.mimeType };
  } finally {
    await handle.close();
  }
}

function text(words: string, details: ControlAnswer): ToolResult {
  return { content: [{ type: "text", text: words }], details };
}
