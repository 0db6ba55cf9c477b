// Routes that look at a page: snapshots, pictures, console, errors and requests.
import { Type, type Static } from "../../core/schema.ts";
import { actFailure } from "../act/failure.ts";
import { browserError } from "../errors.ts";
import { route, targetId, type RouteCall } from "../route.ts";
import { readAriaNodes } from "../snapshot/aria.ts";
import { isInteractive } from "../snapshot/render.ts";
import { labelsOf, screenshotWithLabels } from "../snapshot/labels.ts";
import { takeSnapshot, type Snapshot } from "../snapshot/take.ts";
import { elementsOf } from "../snapshot/tree.ts";
import type { Tab } from "../tab.ts";

const closed = { additionalProperties: false };
const optional = Type.Optional;
/** A query has only text. */
const flag = optional(Type.Union([Type.Boolean(), Type.Enum(["true", "false", "1", "0"])]));
const whole = optional(Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: "^[0-9]{1,9}$" })]));
const text = optional(Type.String());
const ref = Type.Union([Type.String({ minLength: 1 }), Type.Number()]);

const MAX_CHARS = 50_000;
const EFFICIENT_CHARS = 12_000;
const EFFICIENT_DEPTH = 6;
const ARIA_LIMIT = 500;
const JPEG_QUALITY = 85;

const snapshotParams = Type.Object(
  {
    format: optional(Type.Enum(["ai", "aria"])),
    snapshotFormat: optional(Type.Enum(["ai", "aria"])),
    mode: optional(Type.Enum(["efficient"])),
    interactive: flag,
    compact: flag,
    depth: whole,
    selector: text,
    frame: text,
    labels: flag,
    refs: optional(Type.Enum(["role", "aria"])),
    limit: whole,
    maxChars: whole,
    find: text,
    fold: flag,
    graphics: flag,
    targetId,
  },
  closed,
);

export const inspectRoutes = [
  route("GET", "/snapshot", snapshotParams, async (params, call) => {
    const tab = await call.tab(params.targetId);
    return tab.run(call.signal, () => snapshot(tab, params, call));
  }),
  route(
    "POST",
    "/screenshot",
    Type.Object(
      { targetId, fullPage: flag, ref: optional(ref), element: text, type: optional(Type.Enum(["png", "jpeg"])) },
      closed,
    ),
    async (params, call) => {
      const tab = await call.tab(params.targetId);
      return tab.run(call.signal, () => screenshot(tab, params, call));
    },
  ),
  route("POST", "/pdf", Type.Object({ targetId }, closed), async (params, call) => {
    const tab = await call.tab(params.targetId);
    const bytes = await tab.page.pdf().catch((error: unknown) => {
      if (!/headless|PrintToPDF|not implemented/i.test(String(error))) throw actFailure("pdf", error, call.timeoutMs);
      throw browserError("browser.failed", "this browser cannot print to PDF because it runs with a window", {
        hint: "use a profile with browser.headless true",
        cause: error,
      });
    });
    const { path } = await call.browsers.deps.media.save("browser", bytes);
    return { ok: true, path, ...whereOf(tab) };
  }),
  route("GET", "/console", Type.Object({ targetId, level: text, clear: flag }, closed), async (params, call) => {
    const tab = await call.tab(params.targetId);
    const least = params.level === undefined ? 0 : rankOf(params.level);
    const messages = tab.events.console.filter(({ type }) => rankOf(type) >= least);
    if (isOn(params.clear) === true) tab.events.console.length = 0;
    return { ok: true, messages, targetId: tab.targetId };
  }),
  route("GET", "/errors", Type.Object({ targetId, clear: flag }, closed), async (params, call) => {
    const tab = await call.tab(params.targetId);
    const errors = [...tab.events.errors];
    if (isOn(params.clear) === true) tab.events.errors.length = 0;
    return { ok: true, targetId: tab.targetId, errors };
  }),
  route("GET", "/requests", Type.Object({ targetId, filter: text, clear: flag }, closed), async (params, call) => {
    const tab = await call.tab(params.targetId);
    const { filter = "" } = params;
    const requests = tab.events.requests.filter(({ url }) => url.includes(filter));
    if (isOn(params.clear) === true) tab.events.requests.length = 0;
    return { ok: true, targetId: tab.targetId, requests };
  }),
];

async function snapshot(tab: Tab, params: Static<typeof snapshotParams>, call: RouteCall) {
  const format = params.format ?? params.snapshotFormat ?? "ai";
  if (format === "aria") {
    const nodes = await readAriaNodes(tab, toNumber(params.limit) ?? ARIA_LIMIT);
    return { ok: true, format, ...whereOf(tab), nodes };
  }
  const hasForm = [params.interactive, params.compact, params.depth, params.selector, params.frame, params.find].some(
    (value) => value !== undefined,
  );
  const byDefault = hasForm ? undefined : call.browsers.deps.config().browser?.snapshotDefaults?.mode;
  const isEfficient = (params.mode ?? byDefault) === "efficient";
  const labels = isOn(params.labels) === true;
  const taken = await takeSnapshot(tab, {
    interactive: isOn(params.interactive) ?? (isEfficient ? true : undefined),
    compact: isOn(params.compact) ?? (isEfficient ? true : undefined),
    depth: toNumber(params.depth) ?? (isEfficient ? EFFICIENT_DEPTH : undefined),
    selector: params.selector,
    frame: params.frame,
    refs: params.refs,
    maxChars: toNumber(params.maxChars) ?? (isEfficient ? EFFICIENT_CHARS : MAX_CHARS),
    find: params.find,
    fold: isOn(params.fold),
    graphics: isOn(params.graphics),
    timeoutMs: call.timeoutMs,
    signal: call.signal,
    boxes: labels,
  });
  const picture = labels ? await labelPicture(tab, taken, call) : {};
  const { text: printed, truncated, refs, stats } = taken;
  return { ok: true, format, ...whereOf(tab), snapshot: printed, truncated, refs, stats, ...picture };
}

async function labelPicture(tab: Tab, { tree, lines, refs }: Snapshot, call: RouteCall) {
  const names = new Map<string, string>();
  const shown = Object.keys(refs);
  const isRole = shown.some((name) => name.startsWith("e"));
  const usable = new Set([...elementsOf(tree)].filter(isInteractive).map((node) => node.ref));
  for (const { number, native } of lines)
    if (number !== undefined && native !== undefined && usable.has(native))
      names.set(native, isRole ? `e${number}` : String(number));
  const labels = labelsOf(tree, names);
  const bytes = await screenshotWithLabels(tab, labels, call.timeoutMs);
  const { path } = await call.browsers.deps.media.save("browser", bytes);
  return { labels: true, labelsCount: labels.length, imagePath: path, imageType: "png" };
}

interface ScreenshotParams {
  readonly fullPage?: boolean | string;
  readonly ref?: string | number;
  readonly element?: string;
  readonly type?: string;
}

async function screenshot(tab: Tab, params: ScreenshotParams, call: RouteCall) {
  const fullPage = isOn(params.fullPage) ?? false;
  if (fullPage && (params.ref !== undefined || params.element !== undefined))
    throw browserError("browser.bad-request", "fullPage is not supported for element screenshots");
  const { timeoutMs, signal } = call;
  // One pixel of the picture is one pixel of the page, so that a click can name it.
  const format =
    params.type === "jpeg"
      ? ({ type: "jpeg", quality: JPEG_QUALITY, scale: "css", timeout: timeoutMs, signal } as const)
      : ({ type: "png", scale: "css", timeout: timeoutMs, signal } as const);
  const element = await elementOf(tab, params, call);
  const bytes = await (
    element === undefined ? tab.page.screenshot({ ...format, fullPage }) : element.screenshot(format)
  ).catch((error: unknown) => {
    throw signal.aborted ? error : actFailure("screenshot", error, timeoutMs);
  });
  const { path } = await call.browsers.deps.media.save("browser", bytes);
  return { ok: true, path, ...whereOf(tab) };
}

async function elementOf(tab: Tab, params: ScreenshotParams, call: RouteCall) {
  if (params.ref !== undefined) return tab.locate(params.ref, call);
  if (params.element === undefined) return undefined;
  const found = tab.page.locator(params.element).first();
  if ((await found.count()) > 0) return found;
  throw browserError("browser.bad-request", `no element matches "${params.element.slice(0, 100)}"`);
}

function whereOf({ targetId: id, page }: Tab) {
  return { targetId: id, url: page.url() };
}

function isOn(value: boolean | string | undefined): boolean | undefined {
  return value === undefined ? undefined : value === true || value === "true" || value === "1";
}

function toNumber(value: number | string | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

/** info shows all, warn also errors; dialogs count as information. */
function rankOf(level: string): number {
  return level === "error" ? 2 : level === "warn" || level === "warning" ? 1 : 0;
}
