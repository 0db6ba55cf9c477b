// Routes that follow the network: one response body, and files that pages offer for download.
import { Type } from "../../core/schema.ts";
import { actFailure } from "../act/failure.ts";
import { browserError } from "../errors.ts";
import type { RouteCall } from "../route.ts";
import type { Tab } from "../tab.ts";
import { waitingRoute } from "./owner-route.ts";

const { Optional: optional } = Type;
const ref = Type.Union([Type.String({ minLength: 1 }), Type.Number()]);
const timeoutMs = optional(Type.Number({ minimum: 1 }));
/** Accepted from older clients; the file is saved in the media folder, and the answer says where. */
const path = optional(Type.String());

const BODY_CHARS = 200_000;
const MAX_BODY_CHARS = 5_000_000;

export const networkRoutes = [
  waitingRoute(
    "POST",
    "/response/body",
    {
      url: Type.String({ minLength: 1 }),
      timeoutMs,
      maxChars: optional(Type.Integer({ minimum: 1, maximum: MAX_BODY_CHARS })),
    },
    async ({ page }, { url, timeoutMs: wanted, maxChars = BODY_CHARS }, call) => {
      const response = await page.waitForResponse(url, within(call, wanted));
      const body = await response.text();
      const truncated = body.length > maxChars;
      return {
        response: {
          url: response.url(),
          status: response.status(),
          headers: response.headers(),
          body: truncated ? body.slice(0, maxChars) : body,
          ...(truncated ? { truncated } : {}),
        },
      };
    },
  ),
  waitingRoute("POST", "/wait/download", { path, timeoutMs }, (tab, { timeoutMs: wanted }, call) =>
    takeDownload(tab, call, wanted),
  ),
  waitingRoute("POST", "/download", { ref, path, timeoutMs }, (tab, { ref: wanted, timeoutMs: ms }, call) =>
    takeDownload(tab, call, ms, async () => {
      const element = await tab.locate(wanted, call);
      await element.click({ timeout: Math.min(ms ?? call.timeoutMs, call.timeoutMs) });
    }),
  ),
];

/** The next download of the tab, saved in the media folder. */
async function takeDownload(tab: Tab, call: RouteCall, ms: number | undefined, cause?: () => Promise<void>) {
  const waiting = tab.page.waitForEvent("download", within(call, ms));
  const [download] = await Promise.all([waiting, cause?.()]).catch((error: unknown) => {
    if (error instanceof Error && error.name === "TimeoutError")
      throw browserError("browser.timeout", "no download started in time", { cause: error });
    throw actFailure("download", error, ms ?? call.timeoutMs);
  });
  const { path: saved, size } = await (await call.connection()).downloads.save(download);
  return { download: { url: download.url(), suggestedFilename: download.suggestedFilename(), path: saved, size } };
}

function within(call: RouteCall, ms: number | undefined): { timeout: number; signal: AbortSignal } {
  return { timeout: Math.min(ms ?? call.timeoutMs, call.timeoutMs), signal: call.signal };
}
