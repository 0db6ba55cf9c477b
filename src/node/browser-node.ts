// The browser of a paired node: sends a request as `browser.proxy` and stores the files of the answer on this machine.
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { newId } from "../base/ids.ts";
import type { ControlAnswer, ControlCaller, ControlRequest } from "../browser/control.ts";
import { browserError, isBrowserCode } from "../browser/errors.ts";
import { profileOf } from "../browser/profile-policy.ts";
import { failureOf } from "../exec/node-error.ts";
import type { NodeFacts, NodePort } from "../exec/node-port.ts";
import type { MediaStore } from "../media/store.ts";
import { BROWSER_PROXY } from "./browser-target.ts";
import { nameOf } from "./resolve.ts";

export interface NodeBrowserDeps {
  readonly nodes: NodePort;
  readonly media: Pick<MediaStore, "save">;
}

const DEFAULT_MS = 20_000;
/** Time for the way to the node and back, beyond the time of the request itself. */
const TRANSFER_MS = 5000;
const MAX_FILES = 20;
const MAX_FILE_BYTES = 20_000_000;

/** Path of `browser.proxy` at our own nodes: a piece of a file that is too large for one message. */
export const FILE_PIECE = "/openclaw/file-piece";

/** Fields of control answers that name a file. */
export const pathFields: ReadonlySet<string> = new Set(["path", "imagePath"]);

export async function requestOnNode(
  { nodes, media }: NodeBrowserDeps,
  node: NodeFacts,
  request: ControlRequest,
  caller: ControlCaller,
): Promise<ControlAnswer> {
  const { method, path, query = {}, body, timeoutMs = DEFAULT_MS } = request;
  const invoke = async (params: object): Promise<unknown> => {
    try {
      return await nodes.invoke(node.nodeId, BROWSER_PROXY, params, {
        timeoutMs: timeoutMs + TRANSFER_MS,
        idempotencyKey: newId(),
        signal: caller.signal,
      });
    } catch (error) {
      throw nodeError(error, node);
    }
  };
  const payload = await invoke({ method, path, query, body, timeoutMs, profile: profileOf(request), who: caller.who });
  if (!isRecord(payload)) throw browserError("browser.failed", `node ${nameOf(node)} answered without a result`);
  const files = Array.isArray(payload["files"]) ? payload["files"].filter(isFile).slice(0, MAX_FILES) : [];
  const saved = new Map<string, string>();
  for (const file of files) {
    const bytes = file.base64 === undefined ? readPieces(file.path, invoke) : Buffer.from(file.base64, "base64");
    saved.set(file.path, (await media.save("browser", bytes, MAX_FILE_BYTES)).path);
  }
  // Published node hosts send `{result, files}`; a bare object is the result itself.
  const local = withLocalPaths("result" in payload ? payload["result"] : payload, saved);
  return isRecord(local) ? local : { ok: true, result: local };
}

/** Published node hosts know one step of `act`, with its fields in the body itself. */
export function withFlatStep(request: ControlRequest): ControlRequest {
  const { path, body } = request;
  if (path !== "/act" || !isRecord(body) || !isRecord(body["request"])) return request;
  const { request: step, ...rest } = body;
  return { ...request, body: { ...rest, ...step } };
}

interface NodeFile {
  readonly path: string;
  /** Absent when the file has to be read in pieces. */
  readonly base64?: string;
}

const isFile = (file: unknown): file is NodeFile =>
  isRecord(file) && typeof file["path"] === "string" && ["string", "undefined"].includes(typeof file["base64"]);

async function* readPieces(path: string, invoke: (params: object) => Promise<unknown>): AsyncIterable<Uint8Array> {
  for (let offset = 0; ;) {
    const piece = await invoke({ method: "GET", path: FILE_PIECE, query: { path, offset } });
    const base64 = isRecord(piece) && isRecord(piece["result"]) ? piece["result"]["base64"] : undefined;
    if (typeof base64 !== "string") throw browserError("browser.failed", "the node did not send its file");
    const bytes = Buffer.from(base64, "base64");
    if (bytes.length === 0) return;
    offset += bytes.length;
    yield bytes;
  }
}

/** Path fields name files of this machine afterwards; a path without its file is left out. */
function withLocalPaths(value: unknown, saved: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((entry) => withLocalPaths(entry, saved));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, entry]): [string, unknown][] => {
      if (!pathFields.has(name) || typeof entry !== "string") return [[name, withLocalPaths(entry, saved)]];
      const local = saved.get(entry);
      return local === undefined ? [] : [[name, local]];
    }),
  );
}

/** Our own nodes send the code of the browser error; published ones a sentence. */
function nodeError(error: unknown, node: NodeFacts): unknown {
  if (!(error instanceof OpenClawError)) return error;
  const failure = failureOf(error);
  const at = `on node ${nameOf(node)}`;
  if (failure?.code !== undefined && isBrowserCode(failure.code))
    return browserError(failure.code, `${failure.message} (${at})`, { cause: error });
  if (error.code === "node.timeout")
    return browserError("browser.timeout", `the browser ${at} did not answer in time`, { cause: error });
  if (error.code === "node.not-connected")
    return browserError("browser.not-reachable", `node ${nameOf(node)} is no longer connected`, {
      hint: "use target=host, or start the node again: openclaw node run",
      cause: error,
    });
  return browserError("browser.failed", `${error.message.replace(/^Error: /, "")} (${at})`, { cause: error });
}
