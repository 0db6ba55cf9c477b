// Message content of OpenAI clients: text, images and files, checked against the limits of the config.
import { OpenClawError } from "../../core/error.ts";
import type { ImageBlock, TextBlock } from "../../core/message.ts";
import { isRecord } from "../../core/record.ts";
import { wrapUntrusted } from "../../base/untrusted-content.ts";
import type { Config } from "../../config/schema/index.ts";
import { isGuardError } from "../../media/guard/reasons.ts";
import { sniff } from "../../media/sniff.ts";
import type { GatewayContext } from "../context.ts";
import { refuse } from "./openai-request.ts";

export interface Content {
  readonly text: string;
  readonly images: readonly ImageBlock[];
  /** Files as text, marked as untrusted. */
  readonly files: readonly TextBlock[];
}

/** What reads URLs and PDF files for a request. */
export type ContentContext = Pick<GatewayContext, "config" | "guard" | "extraction">;

type ResponsesConfig = NonNullable<
  NonNullable<NonNullable<NonNullable<Config["gateway"]>["http"]>["endpoints"]>["responses"]
>;

/** `where` names the parameter in errors. Undefined content is empty. */
export async function readContent(content: unknown, where: string, context: ContentContext): Promise<Content> {
  if (content === undefined || content === null) return { text: "", images: [], files: [] };
  if (typeof content === "string") return { text: content, images: [], files: [] };
  if (!Array.isArray(content)) return refuse(where, "must be a string or a list of content parts");
  const texts: string[] = [];
  const images: ImageBlock[] = [];
  const files: TextBlock[] = [];
  for (const [index, part] of (content as unknown[]).entries()) {
    const at = `${where}[${index}]`;
    const type = isRecord(part) ? part["type"] : undefined;
    if (!isRecord(part) || typeof type !== "string") return refuse(at, "must be an object with a type");
    if (textTypes.has(type)) texts.push(textOfPart(part, at));
    else if (type === "image_url" || type === "input_image") images.push(await readImage(part, at, context));
    else if (type === "file" || type === "input_file") files.push(await readFile(part, at, context));
    else return refuse(`${at}.type`, `"${type}" is not supported; send text, images or files`);
  }
  return { text: texts.join("\n"), images, files };
}

const textTypes: ReadonlySet<string> = new Set(["text", "input_text", "output_text", "refusal"]);

function textOfPart(part: Readonly<Record<string, unknown>>, at: string): string {
  const text = part["text"] ?? part["refusal"];
  return typeof text === "string" ? text : refuse(`${at}.text`, "must be a string");
}

/** Bytes in the request, or where to fetch them. */
interface Source {
  readonly data?: string;
  readonly url?: string;
  /** The type that the sender states. */
  readonly mimeType?: string | undefined;
  readonly name?: string | undefined;
}

async function readImage(
  part: Readonly<Record<string, unknown>>,
  at: string,
  context: ContentContext,
): Promise<ImageBlock> {
  const { images = {} } = limitsIn(context);
  const inner = part["image_url"];
  const url = isRecord(inner) ? inner["url"] : inner;
  const source = sourceOf(part, at) ?? (typeof url === "string" ? fromUrl(url) : undefined);
  if (source === undefined) return refuse(at, "needs image_url: a data: URL or an http(s) URL");
  const key = "gateway.http.endpoints.responses.images";
  const { bytes } = await bytesOf(source, at, { ...images, key }, context);
  const kind = sniff(bytes);
  if (kind.kind !== "image" || images.allowedMimes?.includes(kind.mimeType) !== true)
    return refuse(at, `is not an image of an accepted type (${key}.allowedMimes: ${list(images.allowedMimes)})`);
  return { type: "image", mimeType: kind.mimeType, data: bytes.toString("base64") };
}

async function readFile(
  part: Readonly<Record<string, unknown>>,
  at: string,
  context: ContentContext,
): Promise<TextBlock> {
  const { files = {} } = limitsIn(context);
  const inner = isRecord(part["file"]) ? part["file"] : part;
  const { file_data: data, file_url: url, filename } = inner;
  const name = typeof filename === "string" ? filename : undefined;
  const given =
    sourceOf(inner, at) ??
    (typeof data === "string" ? fromData(data) : typeof url === "string" ? fromUrl(url) : undefined);
  if (given === undefined) return refuse(at, "needs file_data (Base64 or a data: URL) or file_url");
  const source = { ...given, name: given.name ?? name ?? (typeof url === "string" ? nameIn(url) : undefined) };
  const key = "gateway.http.endpoints.responses.files";
  const { bytes, mimeType } = await bytesOf(source, at, { ...files, key }, context);
  const type = typeOfFile(bytes, mimeType, source.name);
  if (files.allowedMimes?.includes(type) !== true)
    return refuse(at, `is ${type}, which is not accepted (${key}.allowedMimes: ${list(files.allowedMimes)})`);
  const label = `file ${source.name ?? "without name"}`;
  if (type === "application/pdf")
    return { type: "text", text: wrapUntrusted(await readPdf(bytes, at, files, context), label) };
  if (sniff(bytes).kind !== "text") return refuse(at, `is declared as ${type}, but contains binary data`);
  return { type: "text", text: wrapUntrusted(cut(decode(bytes), files.maxChars), label) };
}

async function readPdf(
  bytes: Buffer,
  at: string,
  { pdf: { maxPages = 4 } = {}, maxChars = MAX_FILE_CHARS }: NonNullable<ResponsesConfig["files"]>,
  { extraction }: ContentContext,
): Promise<string> {
  try {
    const { text, pages, isCut } = await extraction.pdf({ bytes, maxPages, maxChars });
    if (text === "") return refuse(at, "is a PDF without text (a scan): send its pages as images", "unsupported_file");
    return isCut
      ? `${text}\n[cut: ${pages?.read ?? 0} of ${pages?.count ?? 0} pages, at most ${maxChars} characters]`
      : text;
  } catch (error) {
    if (error instanceof OpenClawError && error.code.startsWith("extract."))
      return refuse(at, error.message, "unsupported_file");
    throw error;
  }
}

function limitsIn({ config }: ContentContext): Pick<ResponsesConfig, "files" | "images"> {
  return config().gateway?.http?.endpoints?.responses ?? {};
}

/** The older form: `source: { type: "base64" | "url", … }`. */
function sourceOf(part: Readonly<Record<string, unknown>>, at: string): Source | undefined {
  if (part["file_id"] !== undefined && part["file_id"] !== null)
    return refuse(`${at}.file_id`, "uploaded files are not supported; send the file itself");
  const source = part["source"];
  if (!isRecord(source)) return undefined;
  const { type, data, url, media_type: mimeType, filename } = source;
  const known = {
    ...(typeof mimeType === "string" ? { mimeType: mimeType.toLowerCase() } : {}),
    ...(typeof filename === "string" ? { name: filename } : {}),
  };
  if (type === "base64" && typeof data === "string") return { data, ...known };
  if (type === "url" && typeof url === "string") return { ...known, ...fromUrl(url) };
  return refuse(`${at}.source`, "needs type base64 with data, or type url with url");
}

function fromUrl(url: string): Source {
  return /^data:/i.test(url) ? fromData(url) : { url };
}

function fromData(text: string): Source {
  const parts = /^data:([^;,]*)(?:;[^;,]*)*?;base64,/i.exec(text);
  if (parts === null) return { data: text };
  const mimeType = parts[1]?.toLowerCase();
  return { data: text.slice(parts[0].length), ...(mimeType === undefined || mimeType === "" ? {} : { mimeType }) };
}

function nameIn(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).pathname.split("/").at(-1) : undefined;
}

interface SourceLimits {
  readonly maxBytes?: number;
  readonly maxRedirects?: number;
  readonly timeoutMs?: number;
  readonly allowUrl?: boolean;
  readonly key: string;
}

async function bytesOf(
  { data, url, mimeType }: Source,
  at: string,
  limits: SourceLimits,
  { guard }: ContentContext,
): Promise<{ readonly bytes: Buffer; readonly mimeType: string | undefined }> {
  const { allowUrl = false, maxBytes = 0, maxRedirects = 0, timeoutMs = 10_000, key } = limits;
  if (url === undefined) return { bytes: fromBase64(data ?? "", at, maxBytes, key), mimeType };
  if (!allowUrl) return refuse(at, `URLs are not fetched (${key}.allowUrl is off); send the data itself`);
  try {
    const fetched = await guard.download(url, { maxBytes, maxRedirects, timeoutMs });
    return { bytes: fetched.bytes, mimeType: mimeType ?? fetched.mimeType };
  } catch (error) {
    if (!isGuardError(error)) throw error;
    return refuse(at, `the URL was not fetched: ${error.message}`, error.code);
  }
}

function fromBase64(text: string, at: string, maxBytes: number, key: string): Buffer {
  // Checked before decoding, so that data over the limit is not in memory twice.
  if (text.length > (maxBytes * 4) / 3 + 4) return refuse(at, `is larger than ${maxBytes} bytes (${key}.maxBytes)`);
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text) || text === "") return refuse(at, "is not valid Base64");
  const bytes = Buffer.from(text, "base64");
  return bytes.length > maxBytes ? refuse(at, `is larger than ${maxBytes} bytes (${key}.maxBytes)`) : bytes;
}

const byExtension: Readonly<Record<string, string | undefined>> = {
  csv: "text/csv",
  htm: "text/html",
  html: "text/html",
  json: "application/json",
  markdown: "text/markdown",
  md: "text/markdown",
  pdf: "application/pdf",
  txt: "text/plain",
};

/** PDF by its bytes; else the stated type, then the name, then whether it is text. */
function typeOfFile(bytes: Buffer, stated: string | undefined, name = ""): string {
  if (bytes.subarray(0, 5).toString("latin1") === "%PDF-") return "application/pdf";
  if (stated !== undefined && stated !== "application/octet-stream") return stated;
  const extension = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return byExtension[extension] ?? (sniff(bytes).kind === "text" ? "text/plain" : "application/octet-stream");
}

function decode(bytes: Buffer): string {
  return new TextDecoder("utf-8").decode(bytes);
}

const MAX_FILE_CHARS = 200_000;

function cut(text: string, maxChars = MAX_FILE_CHARS): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars).toWellFormed()}\n[cut: the first ${maxChars} of ${text.length} characters]`;
}

const list = (types: readonly string[] = []): string => types.join(", ");
