// `/avatar/<agent>`: the image of an agent, or with `?meta=1` its URL.
import type { IncomingMessage, ServerResponse } from "node:http";

import { OpenClawError } from "../../core/error.ts";
import type { AgentId } from "../../core/names.ts";
import { expandTilde } from "../../base/paths.ts";
import { openRoot } from "../../base/rooted-fs.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import { avatarOf, avatarUrl } from "../../config/avatar.ts";
import { sniff } from "../../media/sniff.ts";
import type { GatewayContext } from "../context.ts";
import { sendJson, sendText } from "./answer.ts";
import { decodedPath, sendBytes } from "./page.ts";

const MAX_BYTES = 4_000_000;

/** `name` is the part of the path after `/avatar/`, undecoded. */
export async function serveAvatar(
  request: IncomingMessage,
  response: ServerResponse,
  context: GatewayContext,
  name: string,
): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD")
    return sendText(response, 405, "Method Not Allowed", { allow: "GET, HEAD" });
  const wanted = decodedPath(name)?.toLowerCase();
  if (wanted === undefined || wanted === "" || wanted.includes("/")) return sendText(response, 404, "Not Found");
  const agent = agentIds(context.config()).find((id) => id === wanted);
  const picture = agent === undefined ? undefined : await readPicture(context, agent);
  const query = new URLSearchParams(request.url?.split("?")[1] ?? "");
  if (query.get("meta") === "1") return sendJson(response, 200, { avatarUrl: urlOf(context, agent, picture) });
  if (picture === undefined) return sendText(response, 404, "Not Found");
  // An SVG that is opened directly must not run scripts of this origin.
  response.setHeader("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  sendBytes(request, response, { body: picture.bytes, type: picture.type });
}

interface Picture {
  readonly bytes: Buffer;
  readonly type: string;
}

function urlOf({ config }: GatewayContext, agent: AgentId | undefined, picture: Picture | undefined): string | null {
  if (agent === undefined) return null;
  const isThere = avatarOf(config(), agent)?.kind === "url" || picture !== undefined;
  return isThere ? (avatarUrl(config(), agent) ?? null) : null;
}

/** Undefined for a file that is missing, leads out of the workspace, or is not an image. */
async function readPicture({ config, paths, log }: GatewayContext, agent: AgentId): Promise<Picture | undefined> {
  const avatar = avatarOf(config(), agent);
  if (avatar?.kind !== "file") return undefined;
  try {
    const root = await openRoot({ root: workspaceOf(config(), agent, paths) });
    try {
      const path = expandTilde(avatar.path, paths.home);
      const { bytes } = await root.read(path, { maxBytes: MAX_BYTES });
      const type = typeOf(bytes, path);
      return type === undefined ? undefined : { bytes, type };
    } finally {
      root.close();
    }
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
    log.debug("the avatar of an agent cannot be read", { agent, error });
    return undefined;
  }
}

function typeOf(bytes: Buffer, path: string): string | undefined {
  const found = sniff(bytes);
  if (found.kind === "image") return found.mimeType;
  const isDrawing = found.kind === "text" && /\.svg$/i.test(path) && /<svg[\s>]/i.test(bytes.toString("utf8", 0, 4096));
  return isDrawing ? "image/svg+xml" : undefined;
}
