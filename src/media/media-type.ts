// MIME types of media files by content: their kind, and the extension that programs and services expect.
import { sniff } from "./sniff.ts";

export type MediaKind = "image" | "audio" | "video" | "document";

const extensions: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
  "audio/ogg": "ogg",
  "audio/webm": "webm",
  "audio/wav": "wav",
  "audio/flac": "flac",
  "audio/aac": "aac",
  "video/mp4": "mp4",
  "video/webm": "webm",
  "video/ogg": "ogv",
  "video/quicktime": "mov",
  "video/3gpp": "3gp",
  "video/x-matroska": "mkv",
  "video/x-msvideo": "avi",
  "application/pdf": "pdf",
  "application/zip": "zip",
  "text/plain": "txt",
};

/** By the first bytes. Text is `text/plain` (also HTML and SVG, which must not be opened as such), the rest `application/octet-stream`. */
export function mimeTypeOf(head: Uint8Array): string {
  const found = sniff(head);
  if (found.kind === "text") return "text/plain";
  return found.mimeType ?? "application/octet-stream";
}

export const extensionOf = (mimeType: string): string => extensions[mimeType] ?? "bin";

export function kindOfType(mimeType: string): MediaKind {
  const [kind] = mimeType.split("/", 1);
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}
