// The files of an agent's workspace as MCP resources (workspace:///path), for users whose policy allows `read`.
import { realpathSync, watch } from "node:fs";
import { basename, dirname, extname, join, posix, sep } from "node:path";

import { ToolError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import { openRoot } from "../../base/rooted-fs.ts";
import type { Catalog } from "../../tool/catalog.ts";
import type { McpUser, Resource, ResourceContents, ResourceProvider } from "./registry.ts";

const SCHEME = "workspace:///";
const TEMPLATE = `${SCHEME}{+path}`;
const MAX_FILES = 500;
const MAX_DEPTH = 6;
const MAX_TEXT = 1_000_000;
const SETTLE_MS = 100;

export function workspaceResources({ surroundings }: Pick<Catalog, "surroundings">): ResourceProvider {
  return {
    async list(user) {
      if (!user.allows("read")) return [];
      const names = await filesIn(surroundings(user.subject).workspace, user.signal);
      return names.map((path): Resource => ({
        uri: uriOf(path),
        name: path,
        description: "File of the workspace",
        ...typeOf(path),
      }));
    },
    templates: (user) =>
      user.allows("read")
        ? [{ uriTemplate: TEMPLATE, name: "workspace file", description: "A file by its path in the workspace." }]
        : [],
    async read(uri, user) {
      const path = pathOf(uri);
      return path === undefined || !user.allows("read") ? undefined : readWhole(uri, path, user);
    },
    watch(uri, user, changed) {
      const path = pathOf(uri);
      if (path === undefined || !user.allows("read")) return undefined;
      return watchFile(surroundings(user.subject).workspace, path, changed);
    },
    async complete(template, argument, value, user) {
      if (template !== TEMPLATE || argument !== "path" || !user.allows("read")) return [];
      const names = await filesIn(surroundings(user.subject).workspace, user.signal);
      return names.filter((name) => name.startsWith(value));
    },
  };
}

/** Relative and inside the workspace by its spelling; links are the concern of the `read` tool. */
function pathOf(uri: string): string | undefined {
  if (!uri.startsWith(SCHEME)) return undefined;
  let path: string;
  try {
    path = decodeURIComponent(uri.slice(SCHEME.length));
  } catch {
    return undefined; // not percent-encoded text: no file of ours
  }
  const clean = posix.normalize(path);
  return path === "" || path.startsWith("/") || clean.startsWith("..") || clean.includes("\0") ? undefined : clean;
}

function uriOf(path: string): string {
  return SCHEME + path.split("/").map(encodeURIComponent).join("/");
}

const mimeTypes: Readonly<Record<string, string>> = {
  ".md": "text/markdown",
  ".txt": "text/plain",
  ".json": "application/json",
  ".csv": "text/csv",
  ".html": "text/html",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

function typeOf(path: string): { readonly mimeType?: string } {
  const mimeType = mimeTypes[extname(path).toLowerCase()];
  return mimeType === undefined ? {} : { mimeType };
}

/** Names in a fixed order. Hidden entries, links and installed packages are left out; all of them can still be read by name. */
async function filesIn(workspace: string, signal: AbortSignal): Promise<string[]> {
  const root = await openRoot({ root: workspace }).catch(() => undefined); // no workspace yet: no files
  if (root === undefined) return [];
  const found: string[] = [];
  const folders: { readonly path: string; readonly depth: number }[] = [{ path: ".", depth: 0 }];
  try {
    for (let next = folders.shift(); next !== undefined && found.length < MAX_FILES; next = folders.shift()) {
      signal.throwIfAborted();
      const { path, depth } = next;
      const { entries } = await root.list(path, MAX_FILES);
      for (const { name, kind } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
        const inside = posix.join(path, name);
        if (name.startsWith(".") || name === "node_modules") continue;
        if (kind === "file" && found.length < MAX_FILES) found.push(inside);
        if (kind === "directory" && depth < MAX_DEPTH) folders.push({ path: inside, depth: depth + 1 });
      }
    }
  } finally {
    root.close();
  }
  return found;
}

async function readWhole(uri: string, path: string, user: McpUser): Promise<readonly ResourceContents[] | undefined> {
  let text = "";
  for (let offset = 1; ;) {
    const { content, details } = await user.call("read", { path, offset }).catch((error: unknown) => {
      if (error instanceof ToolError && error.code === "fs.not-found") return absent;
      throw error;
    });
    if (content === undefined) return undefined;
    const image = content.find((block) => block.type === "image");
    if (image?.type === "image") return [{ uri, mimeType: image.mimeType, blob: image.data }];
    const facts = isRecord(details) ? details : {};
    if (typeof facts["type"] === "string")
      throw new ToolError("mcp.binary", `${path} is neither text nor an image`, {
        hint: "read it with a program made for it, through exec",
      });
    text += plainText(content, facts);
    if (text.length > MAX_TEXT)
      throw new ToolError("mcp.too-large", `${path} is larger than ${MAX_TEXT} characters`, {
        hint: "read parts of it with the tool read and its parameter offset",
      });
    if (typeof facts["nextOffset"] !== "number") return [{ uri, mimeType: "text/plain", ...typeOf(path), text }];
    offset = facts["nextOffset"];
  }
}

const absent = { content: undefined, details: undefined } as const;

/** Without the line that tells a model how to continue. */
function plainText(content: readonly { readonly type: string; readonly text?: string }[], facts: object): string {
  const text = content.flatMap((block) => block.text ?? []).join("\n");
  if ("bytes" in facts && facts.bytes === 0) return "";
  return "truncated" in facts && facts.truncated === true ? text.replace(/\n\[lines? \d[^\n]*\]$/, "") : text;
}

/** The folder is watched, because editors replace files. */
function watchFile(workspace: string, path: string, changed: () => void): (() => void) | undefined {
  let timer: NodeJS.Timeout | undefined;
  try {
    const folder = realpathSync(dirname(join(workspace, path)));
    const root = realpathSync(workspace);
    if (folder !== root && !folder.startsWith(root + sep)) return undefined;
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name !== null && name !== basename(path)) return;
      clearTimeout(timer);
      timer = setTimeout(changed, SETTLE_MS).unref();
    });
    const close = (): void => {
      clearTimeout(timer);
      watcher.close();
    };
    watcher.on("error", close);
    return close;
  } catch {
    return undefined; // the folder is not there: the caller says that it cannot be watched
  }
}
