// Arguments of the browser tool as one request to a browser control service.
import type { BrowserTarget, ControlRequest } from "../../browser/control.ts";
import { ToolError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";

export const browserActions = [
  "status",
  "start",
  "stop",
  "profiles",
  "create-profile",
  "delete-profile",
  "reset-profile",
  "tabs",
  "open",
  "focus",
  "close",
  "snapshot",
  "screenshot",
  "navigate",
  "console",
  "pdf",
  "upload",
  "dialog",
  "act",
] as const;

export type BrowserAction = (typeof browserActions)[number];

type Fields = Readonly<Record<string, unknown>>;

export interface BrowserArguments {
  readonly action: BrowserAction;
  readonly targetUrl?: string;
  readonly targetId?: string;
  readonly profile?: string;
  readonly target?: BrowserTarget;
  readonly node?: string;
  readonly find?: string;
  readonly request?: Fields;
  readonly requests?: readonly Fields[];
  readonly options?: Fields;
}

/** What a model may put into `options`, by action. */
const optionNames: { readonly [A in BrowserAction]?: readonly string[] } = {
  "create-profile": ["name", "color", "cdpUrl", "driver"],
  "delete-profile": ["name"],
  open: ["observe"],
  snapshot: [
    "mode",
    "snapshotFormat",
    "interactive",
    "compact",
    "depth",
    "selector",
    "frame",
    "labels",
    "refs",
    "limit",
    "maxChars",
    "fold",
    "graphics",
  ],
  screenshot: ["fullPage", "ref", "element", "type"],
  navigate: ["observe"],
  console: ["level"],
  upload: ["paths", "ref", "inputRef", "element"],
  dialog: ["accept", "promptText"],
  act: ["observe"],
};

const shown = new Set("action targetUrl targetId profile target node find request requests options".split(" "));
const aliases: Readonly<Record<string, string>> = { url: "targetUrl", format: "snapshotFormat" };

/** Models often send the fields of `options` and `request` beside the action. */
export function foldBrowserArguments(raw: Record<string, unknown>): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  const others: Record<string, unknown> = {};
  const { action } = raw;
  for (const [key, value] of Object.entries(raw)) {
    // `url` of act is a condition of wait.
    const name = action === "act" ? key : (aliases[key] ?? key);
    (shown.has(name) ? known : others)[name] = value;
  }
  if (Object.keys(others).length === 0) return known;
  const { observe, ...step } = others;
  if (action !== "act" || Array.isArray(known["requests"])) return withOptions(known, others);
  const request = { ...step, ...(isRecord(known["request"]) ? known["request"] : {}) };
  return withOptions({ ...known, request }, observe === undefined ? {} : { observe });
}

function withOptions(args: Record<string, unknown>, others: Fields): Record<string, unknown> {
  const options = args["options"];
  return { ...args, options: { ...others, ...(isRecord(options) ? options : {}) } };
}

const ACT_MS = 20_000;
const MAX_MS = 120_000;

export function requestFor(args: BrowserArguments): ControlRequest {
  const { action, profile, targetId, options = {} } = args;
  requireKnown(action, options);
  const query = { profile };
  const { timeoutMs, ...rest } = options;
  const deadline = typeof timeoutMs === "number" ? { timeoutMs } : {};
  const body = { ...rest, targetId };
  switch (action) {
    case "status":
      return { method: "GET", path: "/", query, ...deadline };
    case "start":
    case "stop":
    case "reset-profile":
      return { method: "POST", path: `/${action}`, query, ...deadline };
    case "profiles":
    case "tabs":
      return { method: "GET", path: `/${action}`, query, ...deadline };
    case "create-profile":
      return { method: "POST", path: "/profiles/create", body: { name: profile, ...rest }, ...deadline };
    case "delete-profile":
      return { method: "DELETE", path: `/profiles/${pathPart(rest["name"] ?? profile, "name")}`, ...deadline };
    case "open":
      return { method: "POST", path: "/tabs/open", query, body: { ...observing(rest), url: urlOf(args) }, ...deadline };
    case "focus":
      return {
        method: "POST",
        path: "/tabs/focus",
        query,
        body: { targetId: required(targetId, "targetId") },
        ...deadline,
      };
    case "close":
      return targetId === undefined
        ? { method: "POST", path: "/act", query, body: { kind: "close" }, ...deadline }
        : { method: "DELETE", path: `/tabs/${pathPart(targetId, "targetId")}`, query, ...deadline };
    case "snapshot":
      return { method: "GET", path: "/snapshot", query: { ...query, ...body, find: args.find }, ...deadline };
    case "console":
      return { method: "GET", path: "/console", query: { ...query, ...body }, ...deadline };
    case "screenshot":
    case "pdf":
      return { method: "POST", path: `/${action}`, query, body, ...deadline };
    case "navigate":
      return { method: "POST", path: "/navigate", query, body: { ...observing(body), url: urlOf(args) }, ...deadline };
    case "upload":
      return { method: "POST", path: "/hooks/file-chooser", query, body: { ...body, timeoutMs } };
    case "dialog":
      return { method: "POST", path: "/hooks/dialog", query, body: { ...body, timeoutMs } };
    case "act":
      return {
        method: "POST",
        path: "/act",
        query,
        body: { ...observing(body), ...stepsOf(args) },
        timeoutMs: actMs(args),
      };
  }
}

/** A model sees what its call changed unless it asks for less. */
function observing(body: Fields): Fields {
  return { observe: "changes", ...body };
}

function stepsOf({ request, requests }: BrowserArguments): Fields {
  if (requests !== undefined) return { requests };
  return { request: required(request, "request", "such as {kind:'click', ref:12}") };
}

/** Steps have limits of their own; the call has to outlast them. */
function actMs({ request, requests, options }: BrowserArguments): number {
  const steps = requests ?? [request ?? {}];
  const asked = Number(options?.["timeoutMs"] ?? 0);
  const sum = steps.reduce((ms, { timeoutMs, timeMs }) => ms + (Number(timeoutMs) || 0) + (Number(timeMs) || 0), 0);
  return Math.min(MAX_MS, Math.max(asked, ACT_MS + sum) || ACT_MS);
}

function requireKnown(action: BrowserAction, options: Fields): void {
  const names = [...(optionNames[action] ?? []), "timeoutMs"];
  const unknown = Object.keys(options).filter((name) => !names.includes(name));
  if (unknown.length === 0) return;
  const listed = unknown.map((name) => `"${name.slice(0, 40)}"`).join(", ");
  throw bad(`${action} has no option ${listed}`, `options of ${action}: ${names.join(", ")}`);
}

function urlOf({ targetUrl }: BrowserArguments): string {
  return String(required(targetUrl, "targetUrl", "such as https://example.com"));
}

function pathPart(value: unknown, name: string): string {
  return encodeURIComponent(String(required(value, name)));
}

function required(value: unknown, name: string, hint?: string): unknown {
  if (value !== undefined && value !== "") return value;
  throw bad(`${name} required`, hint);
}

function bad(message: string, hint?: string): ToolError {
  return new ToolError("browser.bad-request", message, hint === undefined ? {} : { hint });
}
