// Routes that change how a browser presents itself to pages: network, place, time zone, language, device.
import { Type } from "../../core/schema.ts";
import { nearest } from "../../core/nearest.ts";
import { browserError } from "../errors.ts";
import type { Tab } from "../tab.ts";
import { ownerRoute } from "./owner-route.ts";

const { Optional: optional } = Type;
const flag = Type.Boolean();
const text = Type.String({ minLength: 1 });
const degrees = (limit: number) => optional(Type.Number({ minimum: -limit, maximum: limit }));

export const settingRoutes = [
  ownerRoute("POST", "/set/offline", { offline: flag }, ({ page }, { offline }) => page.context().setOffline(offline)),
  ownerRoute(
    "POST",
    "/set/headers",
    { headers: optional(Type.Record(Type.String(), Type.String())), clear: optional(flag) },
    async ({ page }, { headers, clear = false }) => {
      if (headers === undefined && !clear) throw missing("headers", "clear");
      await page.setExtraHTTPHeaders(clear ? {} : (headers ?? {}));
    },
  ),
  ownerRoute(
    "POST",
    "/set/credentials",
    { username: optional(text), password: optional(Type.String()), clear: optional(flag) },
    async ({ page }, { username, password = "", clear = false }) => {
      if (username === undefined && !clear) throw missing("username and password", "clear");
      await page.context().setHTTPCredentials(clear || username === undefined ? null : { username, password });
    },
  ),
  ownerRoute(
    "POST",
    "/set/geolocation",
    {
      latitude: degrees(90),
      longitude: degrees(180),
      accuracy: optional(Type.Number({ minimum: 0 })),
      origin: optional(text),
      clear: optional(flag),
    },
    async ({ page }, { latitude, longitude, accuracy, origin, clear = false }) => {
      const context = page.context();
      if (clear) {
        await context.setGeolocation(null);
        return context.clearPermissions();
      }
      if (latitude === undefined || longitude === undefined) throw missing("latitude and longitude", "clear");
      await context
        .grantPermissions(["geolocation"], { origin: origin ?? new URL(page.url()).origin })
        .catch((error: unknown) => {
          if (!/can't be granted/.test(String(error))) throw error;
          throw browserError("browser.bad-request", "only pages of https and of this machine may read a position", {
            cause: error,
          });
        });
      await context.setGeolocation({ latitude, longitude, ...(accuracy === undefined ? {} : { accuracy }) });
    },
  ),
  ownerRoute(
    "POST",
    "/set/media",
    { colorScheme: Type.Enum(["dark", "light", "no-preference", "none"]) },
    ({ page }, { colorScheme }) => page.emulateMedia({ colorScheme: colorScheme === "none" ? null : colorScheme }),
  ),
  ownerRoute("POST", "/set/timezone", { timezoneId: text }, async ({ cdp }, { timezoneId }) => {
    await cdp.send("Emulation.setTimezoneOverride", { timezoneId });
  }),
  ownerRoute("POST", "/set/locale", { locale: text }, async ({ cdp }, { locale }) => {
    await cdp.send("Emulation.setLocaleOverride", { locale });
  }),
  ownerRoute("POST", "/set/device", { name: text }, (tab, { name }) => emulateDevice(tab, name)),
];

/** The presets of Playwright, such as "iPhone 14". */
async function emulateDevice({ page, cdp }: Tab, name: string): Promise<void> {
  const { devices } = await import("playwright-core");
  const device = Object.hasOwn(devices, name) ? devices[name] : undefined;
  if (device === undefined) {
    const near = nearest(name, Object.keys(devices));
    throw browserError("browser.bad-request", `there is no device "${name.slice(0, 60)}"`, {
      hint: near === undefined ? 'use the name of a Playwright device, such as "iPhone 14"' : `did you mean "${near}"?`,
    });
  }
  const { userAgent, viewport, deviceScaleFactor, isMobile, hasTouch } = device;
  await page.setViewportSize(viewport);
  await cdp.send("Emulation.setUserAgentOverride", { userAgent });
  await cdp.send("Emulation.setDeviceMetricsOverride", { ...viewport, deviceScaleFactor, mobile: isMobile });
  await cdp.send("Emulation.setTouchEmulationEnabled", { enabled: hasTouch });
}

function missing(what: string, or: string): Error {
  return browserError("browser.bad-request", `give ${what}, or ${or}`);
}
