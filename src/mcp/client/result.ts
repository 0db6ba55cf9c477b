// Results of MCP tools as results of our tools: text bounded and marked as untrusted, images and structured content kept.
import { ToolError } from "../../core/error.ts";
import type { Block } from "../../core/message.ts";
import { isRecord } from "../../core/record.ts";
import { checker, describeIssues, type TObject } from "../../core/schema.ts";
import { visible } from "../../core/visible.ts";
import { wrapUntrusted } from "../../base/untrusted-content.ts";
import { sniff } from "../../media/sniff.ts";
import type { Attachment } from "../../protocol/methods/tools.ts";
import type { ToolResult } from "../../tool/tool.ts";

/** Below the limit of every result, so that the closing mark is never cut off. */
const MAX_TEXT = 100_000;
const MAX_BLOCKS = 200;

/** `output` is the declared schema of the structured result. */
export function toResult(raw: unknown, id: string, name: string, output: TObject | undefined): ToolResult {
  if (!isRecord(raw)) throw garbage(id, "its answer is not an object");
  const { content = [], structuredContent, isError = false } = raw;
  if (!Array.isArray(content)) throw garbage(id, "content is not a list");
  const parts = content.slice(0, MAX_BLOCKS).map((block) => toPart(block, id));
  const details = isError === true ? undefined : structured(structuredContent, output, id);
  const texts = parts.flatMap(({ text }) => text ?? []);
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent, null, 2));
  const attachments = parts.flatMap(({ attachment }) => attachment ?? []);
  const blocks: Block[] = texts.length === 0 ? [] : [{ type: "text", text: marked(texts.join("\n\n"), name) }];
  return {
    content: [...blocks, ...parts.flatMap(({ image }) => image ?? [])],
    ...(details === undefined ? {} : { details }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(isError === true ? { isError: true } : {}),
  };
}

function marked(text: string, name: string): string {
  const cut = text.length > MAX_TEXT ? `\n[cut: the first ${MAX_TEXT} of ${text.length} characters]` : "";
  return wrapUntrusted(text.slice(0, MAX_TEXT).toWellFormed(), `mcp:${name}`) + cut;
}

/** A server that breaks its own schema is reported instead of trusted. */
function structured(value: unknown, output: TObject | undefined, id: string): unknown {
  if (output === undefined) return value;
  const issues = checker(output).issues(value);
  if (issues.length === 0) return value;
  const why = value === undefined ? "structuredContent is missing" : describeIssues(issues).slice(0, 500);
  throw garbage(id, `its structured result does not match the schema that it declares (${why})`);
}

interface Part {
  readonly text?: string;
  readonly image?: Block;
  readonly attachment?: Attachment;
}

function toPart(block: unknown, id: string): Part {
  if (!isRecord(block)) throw garbage(id, "an entry of content is not an object");
  switch (block["type"]) {
    case "text":
      return { text: textOf(block["text"], id, "text") };
    case "image":
      return imagePart(textOf(block["data"], id, "data"));
    case "audio": {
      const data = textOf(block["data"], id, "data");
      const mimeType = mimeOf(block["mimeType"]) ?? "audio/wav";
      return { text: `[audio: ${mimeType}]`, attachment: { type: "audio", data, mimeType } };
    }
    case "resource_link": {
      const uri = textOf(block["uri"], id, "uri");
      const label = typeof block["name"] === "string" ? block["name"] : uri;
      const attachment = { type: "resource_link" as const, uri, name: label, ...mime(block["mimeType"]) };
      return { text: `[resource ${visible(label, 200)}: ${visible(uri, 500)}]`, attachment };
    }
    case "resource":
      return resourcePart(block["resource"], id);
    default:
      return { text: `[content of the unknown type ${visible(String(block["type"]), 50)}]` };
  }
}

function resourcePart(resource: unknown, id: string): Part {
  if (!isRecord(resource)) throw garbage(id, "a resource is not an object");
  const uri = textOf(resource["uri"], id, "uri");
  const shown = `[resource ${visible(uri, 500)}]`;
  const { text, blob } = resource;
  const base = { uri, ...mime(resource["mimeType"]) };
  if (typeof text === "string")
    return { text: `${shown}\n${text}`, attachment: { type: "resource", resource: { ...base, text } } };
  if (typeof blob !== "string") throw garbage(id, "a resource has neither text nor blob");
  const { image } = imagePart(blob);
  return {
    text: shown,
    ...(image === undefined ? {} : { image }),
    attachment: { type: "resource", resource: { ...base, blob } },
  };
}

/** Judged by its bytes: a vendor rejects the whole request for a picture that is none. */
function imagePart(data: string): Part {
  const found = sniff(Buffer.from(data.slice(0, 16_384), "base64"));
  if (found.kind !== "image") return { text: "[an image of a kind that models cannot read]" };
  return { image: { type: "image", data, mimeType: found.mimeType } };
}

const mimeOf = (value: unknown): string | undefined =>
  typeof value === "string" && /^[\w.+-]+\/[\w.+-]+/.test(value) ? value.slice(0, 100) : undefined;

function mime(value: unknown): { readonly mimeType?: string } {
  const mimeType = mimeOf(value);
  return mimeType === undefined ? {} : { mimeType };
}

function textOf(value: unknown, id: string, field: string): string {
  if (typeof value === "string") return value;
  throw garbage(id, `${field} of an entry of content is not text`);
}

export function garbage(id: string, why: string): ToolError {
  return new ToolError("mcp.bad-result", `MCP server ${id} returned a result that breaks the protocol: ${why}`, {
    hint: `openclaw mcp test ${id}`,
  });
}
