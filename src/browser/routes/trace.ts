// Routes that help a person to see what happens in a browser: a Playwright trace, and an outline around one element.
import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext } from "playwright-core";

import { Type } from "../../core/schema.ts";
import { browserError } from "../errors.ts";
import { ownerRoute } from "./owner-route.ts";

const { Optional: optional } = Type;
const flag = optional(Type.Boolean());

/** Contexts that record a trace now. */
const recording = new WeakSet<BrowserContext>();

export const traceRoutes = [
  ownerRoute(
    "POST",
    "/trace/start",
    { screenshots: flag, snapshots: flag, sources: flag },
    async ({ page }, { screenshots = true, snapshots = true }) => {
      const context = page.context();
      if (recording.has(context))
        throw browserError("browser.bad-request", "a trace is already being recorded", {
          hint: "openclaw browser trace stop",
        });
      // Sources would be the code of this program.
      await context.tracing.start({ screenshots, snapshots });
      recording.add(context);
    },
  ),
  ownerRoute("POST", "/trace/stop", { path: optional(Type.String()) }, async ({ page }, _params, { browsers }) => {
    const context = page.context();
    if (!recording.delete(context))
      throw browserError("browser.bad-request", "no trace is being recorded", {
        hint: "openclaw browser trace start",
      });
    const folder = await mkdtemp(join(tmpdir(), "openclaw-trace-"));
    try {
      const file = join(folder, "trace.zip");
      await context.tracing.stop({ path: file });
      const { path } = await browsers.deps.media.save("browser", createReadStream(file));
      return { path };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }),
  ownerRoute(
    "POST",
    "/highlight",
    { ref: Type.Union([Type.String({ minLength: 1 }), Type.Number()]) },
    async (tab, { ref }, call) => {
      const element = await tab.locate(ref, call);
      await element.highlight();
    },
  ),
];
