// Serves the Control UI from a folder that the owner chose (`gateway.controlUi.root`), read at each request.
import type { IncomingMessage, ServerResponse } from "node:http";

import { OpenClawError } from "../../core/error.ts";
import { expandHome } from "../../base/paths.ts";
import { openRoot, type Root } from "../../base/rooted-fs.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import { canonicalPath, credentialPaths, isWithin } from "../../exec/sandbox/hidden-paths.ts";
import type { GatewayContext } from "../context.ts";
import { sendText } from "./answer.ts";
import { contentType, decodedPath, sendBytes } from "./page.ts";

const MAX_BYTES = 32_000_000;

/** Scripts of that folder only; style attributes, and images and fonts from elsewhere, which pages use. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline' https:; img-src 'self' data: blob: http: https:; media-src 'self' data: blob:; font-src 'self' data: https:; connect-src 'self' ws: wss:; worker-src 'self' blob:; manifest-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/** `path` is the path of the request without `basePath`. A missing file gives `index.html`, as for the built-in page. */
export async function servePageRoot(
  request: IncomingMessage,
  response: ServerResponse,
  context: GatewayContext,
  path: string,
): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD")
    return sendText(response, 405, "Method Not Allowed", { allow: "GET, HEAD" });
  const name = nameOf(path);
  if (name === undefined) return sendText(response, 404, "Not Found");
  const folder = expandHome(context.config().gateway?.controlUi?.root ?? "", context.paths.home);
  try {
    const root = await openRoot({ root: folder, mayShare: () => !isWorkspace(context, folder) });
    try {
      requireHarmless(context, root.real);
      const file = (await read(root, name)) ?? (await read(root, "index.html"));
      if (file === undefined) throw new OpenClawError("page.no-index", `${folder} has no index.html`);
      response.setHeader("content-security-policy", pagePolicy);
      sendBytes(request, response, file);
    } finally {
      root.close();
    }
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
    const isFolder = error.code.startsWith("page.") || error.code === "fs.not-found";
    context.log[isFolder ? "warn" : "debug"]("gateway.controlUi.root: not served", { path: name, error });
    if (!isFolder) return sendText(response, 404, "Not Found");
    sendText(response, 503, "The page cannot be served from gateway.controlUi.root. The log says why: openclaw logs\n");
  }
}

/** Relative to the folder; undefined for a path that leads out of it, and for hidden files. */
function nameOf(path: string): string | undefined {
  const decoded = decodedPath(path);
  if (decoded === undefined || /[\0\\]/.test(decoded)) return undefined;
  const names = decoded.split("/").filter((name) => name !== "");
  if (names.some((name) => name.startsWith(".") && name !== ".well-known")) return undefined;
  return names.length === 0 ? "index.html" : names.join("/");
}

async function read(root: Root, name: string): Promise<{ body: Buffer; type: string } | undefined> {
  try {
    const { bytes } = await root.read(name, { maxBytes: MAX_BYTES });
    return { body: bytes, type: contentType(name) };
  } catch (error) {
    const isAbsent =
      error instanceof OpenClawError && ["fs.not-found", "fs.is-directory", "fs.not-directory"].includes(error.code);
    if (isAbsent) return undefined;
    throw error;
  }
}

/** Anyone who reaches the port can read this folder, so it must not contain state of the gateway or keys. */
function requireHarmless(context: GatewayContext, real: string): void {
  const { state, config, home } = context.paths;
  const secrets = credentialPaths(home).map(canonicalPath);
  const [stateFolder, ...own] = [state, config].map(canonicalPath);
  const isOpen =
    ![stateFolder ?? state, ...own, ...secrets].some((path) => isWithin(path, real)) &&
    !secrets.some((path) => isWithin(real, path)) &&
    (!isWithin(real, stateFolder ?? state) || isWorkspace(context, real));
  if (isOpen) return;
  throw new OpenClawError(
    "page.not-harmless",
    `gateway.controlUi.root contains the gateway's own files or keys: ${real}`,
    {
      hint: "set gateway.controlUi.root to a folder that contains only the page",
    },
  );
}

/** Whether agents can write files there. */
function isWorkspace({ config, paths }: GatewayContext, folder: string): boolean {
  const real = canonicalPath(folder);
  return agentIds(config()).some((id) => isWithin(real, canonicalPath(workspaceOf(config(), id, paths))));
}
