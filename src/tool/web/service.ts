// One request to a service that the owner configured, read as JSON; failures say what to do about them.
import { ToolError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import { wrapUntrusted } from "../../base/untrusted-content.ts";
import type { GuardedResponse, GuardOptions } from "../../media/guard/guard.ts";
import { isGuardError } from "../../media/guard/reasons.ts";
import type { WebDeps } from "./deps.ts";

export interface ServiceRequest extends GuardOptions {
  /** For messages: "Brave Search". */
  readonly service: string;
  readonly url: string;
  /** Root of the service; the owner chose its host. */
  readonly root: string;
  /** What fixes a rejected key. */
  readonly keyHint: string;
}

const MAX_EXCERPT = 300;

/** Throws ToolError `web.unreachable`, `web.key-rejected`, `web.quota`, `web.provider-failed` or `web.garbage`. */
export async function askService(guard: WebDeps["guard"], request: ServiceRequest): Promise<Record<string, unknown>> {
  const bytes = await askBytes(guard, request);
  try {
    const parsed: unknown = JSON.parse(bytes.toString("utf8"));
    if (isRecord(parsed)) return parsed;
  } catch {
    // Reported below, together with JSON of another shape.
  }
  throw new ToolError("web.garbage", `${request.service} returned something that is not its documented JSON`, {
    hint: `check the address of the service: ${request.root}`,
  });
}

export async function askBytes(
  guard: WebDeps["guard"],
  { service, url, root, keyHint, ...options }: ServiceRequest,
): Promise<Buffer> {
  try {
    const response = await guard.fetch(url, { ...options, ownerUrl: root, maxRedirects: 0, maxBytes: 2_000_000 });
    if (response.status < 200 || response.status > 299) throw await failureOf(response, service, keyHint);
    return await response.bytes();
  } catch (error) {
    if (!isGuardError(error)) throw error;
    throw new ToolError("web.unreachable", `${service} could not be used: ${error.message}`, {
      hint: "try again later, or choose another provider: openclaw configure --section web",
      details: { reason: error.code },
      cause: error,
    });
  }
}

async function failureOf(response: GuardedResponse, service: string, keyHint: string): Promise<ToolError> {
  const { status } = response;
  const { bytes } = await response.head();
  const body = bytes
    .toString("utf8", 0, MAX_EXCERPT * 4)
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, MAX_EXCERPT);
  const said = `${service} answered ${status}${body === "" ? "" : `: ${wrapUntrusted(body, service)}`}`;
  const details = { status };
  if (status === 401 || status === 403) return new ToolError("web.key-rejected", said, { hint: keyHint, details });
  if (status === 402 || status === 429)
    return new ToolError("web.quota", `${said}. The rate limit or the quota of the key is reached`, {
      hint: "wait a moment and search less often, or raise the plan of the key",
      details,
    });
  return new ToolError("web.provider-failed", said, { hint: "try again later", details });
}
