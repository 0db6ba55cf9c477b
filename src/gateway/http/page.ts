// Serves the built Control UI, with index.html for every other path. Read once and cached in memory.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { IncomingMessage, ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";

import { errnoOf } from "../../core/error.ts";
import { sendText } from "./answer.ts";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
  ".ttf": "font/ttf",
};

interface PageFile {
  readonly body: Buffer;
  readonly type: string;
  readonly forever: boolean;
}

export type ServePage = (request: IncomingMessage, response: ServerResponse, path: string) => void;

export function createPage(): ServePage {
  let files: ReadonlyMap<string, PageFile> | undefined;

  return function servePage(request, response, path) {
    if (request.method !== "GET" && request.method !== "HEAD")
      return sendText(response, 405, "Method Not Allowed", { allow: "GET, HEAD" });
    files ??= readFiles(builtPage());
    // Only names found on disk are served, so a path from a request never reaches the file system.
    const file = files.get(path.replace(/^\//, "")) ?? files.get("index.html");
    if (file === undefined) return sendText(response, 503, "The page is not built. Run: npm run build\n");
    sendBytes(request, response, file);
  };
}

export function sendBytes(
  { method }: IncomingMessage,
  response: ServerResponse,
  { body, type, forever = false }: Pick<PageFile, "body" | "type"> & { readonly forever?: boolean },
): void {
  response.writeHead(200, {
    "content-type": type,
    "content-length": body.length,
    "cache-control": forever ? "public, max-age=31536000, immutable" : "no-cache",
  });
  response.end(method === "HEAD" ? undefined : body);
}

export function contentType(name: string): string {
  return types[extname(name).toLowerCase()] ?? "application/octet-stream";
}

/** Undefined for a path with an invalid escape. */
export function decodedPath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function readFiles(folder: string): ReadonlyMap<string, PageFile> {
  try {
    const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return new Map(
      names.map((entry) => {
        const full = join(entry.parentPath, entry.name);
        const name = full.slice(folder.length + 1).replaceAll("\\", "/");
        return [
          name,
          {
            body: readFileSync(full),
            type: contentType(name),
            forever: name.startsWith("assets/"),
          },
        ];
      }),
    );
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return new Map();
    throw error;
  }
}

/** The page next to the bundle, else the last build next to the sources. */
function builtPage(): string {
  const beside = fileURLToPath(new URL("./ui", import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL("../../../dist/ui", import.meta.url));
}
