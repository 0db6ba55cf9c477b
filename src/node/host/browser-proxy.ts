// `browser.proxy`: lets the gateway use the browsers of this node; files of an answer travel with it or in pieces.
import { isRecord } from "../../core/record.ts";
import { checker, Type } from "../../core/schema.ts";
import type { BrowserControl, ControlAnswer } from "../../browser/control.ts";
import { browserError } from "../../browser/errors.ts";
import type { MediaStore } from "../../media/store.ts";
import { FILE_PIECE, pathFields } from "../browser-node.ts";
import type { Command } from "./commands.ts";

export interface BrowserProxyDeps {
  readonly browser: BrowserControl;
  readonly media: Pick<MediaStore, "open">;
  /** `nodeHost.browserProxy.allowProfiles`; undefined allows all. */
  readonly allowProfiles: readonly string[] | undefined;
}

const proxyRequest = checker(
  Type.Object({
    method: Type.Enum(["GET", "POST", "DELETE"]),
    path: Type.String({ minLength: 1, maxLength: 2000 }),
    query: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    body: Type.Optional(Type.Unknown()),
    timeoutMs: Type.Optional(Type.Number({ minimum: 0 })),
    profile: Type.Optional(Type.String()),
    /** Published gateways do not say who asks: the stricter one is assumed. */
    who: Type.Optional(Type.Enum(["owner", "agent"])),
  }),
);

/** Base64 of this fits into one message of a gateway, beside the answer. */
const PIECE_BYTES = 240_000;
const MAX_FILES = 20;

export function createBrowserProxy({ browser, media, allowProfiles }: BrowserProxyDeps): Command {
  return async (params, { signal }) => {
    const given = proxyRequest.parse(params, "browser.bad-request", "browser.proxy params");
    const { method, path, query = {}, body, timeoutMs, profile, who = "agent" } = given;
    if (path === FILE_PIECE) return { result: await readPiece(media, query) };
    const inQuery = query["profile"];
    if (profile !== undefined && inQuery !== undefined && inQuery !== profile)
      throw browserError("browser.bad-request", "the request names two profiles");
    const result = await browser.request(
      { method, path, query: profile === undefined ? query : { ...query, profile }, body, timeoutMs },
      {
        who,
        profiles: allowProfiles,
        profilesKey: "nodeHost.browserProxy.allowProfiles of the node",
        uploadFolders: [],
        signal,
      },
    );
    const files = await attach(media, filesIn(result).slice(0, MAX_FILES));
    return { result, ...(files.length === 0 ? {} : { files }) };
  };
}

function filesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(filesIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, entry]) =>
    pathFields.has(name) && typeof entry === "string" ? [entry] : filesIn(entry),
  );
}

interface AttachedFile {
  readonly path: string;
  readonly mimeType: string;
  readonly size: number;
  readonly base64?: string;
}

async function attach(media: BrowserProxyDeps["media"], paths: readonly string[]): Promise<AttachedFile[]> {
  const files: AttachedFile[] = [];
  let room = PIECE_BYTES;
  for (const path of paths) {
    const { handle, mimeType, size } = await media.open(path);
    try {
      const isInline = size <= room;
      if (isInline) room -= size;
      files.push({ path, mimeType, size, ...(isInline ? { base64: await handle.readFile("base64") } : {}) });
    } finally {
      await handle.close();
    }
  }
  return files;
}

async function readPiece(media: BrowserProxyDeps["media"], query: ControlAnswer): Promise<ControlAnswer> {
  const { path, offset } = query;
  if (typeof path !== "string" || typeof offset !== "number" || !Number.isSafeInteger(offset) || offset < 0)
    throw browserError("browser.bad-request", "a piece of a file needs path and offset");
  const { handle } = await media.open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, offset);
    return { base64: buffer.subarray(0, bytesRead).toString("base64") };
  } finally {
    await handle.close();
  }
}
