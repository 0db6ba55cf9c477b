// Routes for the cookies and the storage of pages.
import { Type } from "../../core/schema.ts";
import { browserError } from "../errors.ts";
import type { RouteCall } from "../route.ts";
import type { Tab } from "../tab.ts";
import { ownerRoute } from "./owner-route.ts";

const { Optional: optional } = Type;
const name = Type.String({ minLength: 1 });
const text = Type.String();

const cookie = {
  name: optional(name),
  value: optional(text),
  url: optional(text),
  domain: optional(text),
  path: optional(text),
  expires: optional(Type.Number()),
  httpOnly: optional(Type.Boolean()),
  secure: optional(Type.Boolean()),
  sameSite: optional(Type.Enum(["Strict", "Lax", "None"])),
};
const kind = Type.Enum(["local", "session"]);

export const cookieRoutes = [
  ownerRoute("GET", "/cookies", {}, async (tab, _params, call) => ({ cookies: await cookiesOf(tab, call) })),
  ownerRoute(
    "POST",
    "/cookies/set",
    { ...cookie, cookie: optional(Type.Object(cookie, { additionalProperties: false })) },
    async (tab, { cookie: nested, ...flat }) => {
      const { name: given, value, ...rest } = nested ?? flat;
      if (given === undefined || value === undefined)
        throw browserError("browser.bad-request", "a cookie needs a name and a value");
      const place = rest.url === undefined && rest.domain === undefined ? { url: tab.page.url() } : {};
      const { success } = await tab.cdp.send("Network.setCookie", { name: given, value, ...place, ...rest });
      if (!success) throw browserError("browser.bad-request", "the browser does not accept this cookie for this URL");
    },
  ),
  ownerRoute("POST", "/cookies/clear", {}, async (tab, _params, call) => {
    if (call.profile.kind !== "relay") return tab.page.context().clearCookies();
    for (const { name: known, domain, path } of await cookiesOf(tab, call))
      await tab.cdp.send("Network.deleteCookies", { name: known, domain, path });
  }),
  ownerRoute("GET", "/storage/:kind", { kind, key: optional(text) }, async ({ page }, { kind: which, key }) => ({
    values: await page.evaluate(readStorage, { which, key }),
  })),
  ownerRoute("POST", "/storage/:kind/set", { kind, key: name, value: text }, ({ page }, { kind: which, key, value }) =>
    page.evaluate(writeStorage, { which, key, value }),
  ),
  ownerRoute("POST", "/storage/:kind/clear", { kind }, ({ page }, { kind: which }) =>
    page.evaluate((of) => (of === "local" ? localStorage : sessionStorage).clear(), which),
  ),
];

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  readonly path: string;
}

/** In the user's own browser only those of the attached page. */
async function cookiesOf({ page, cdp }: Tab, { profile }: RouteCall): Promise<readonly Cookie[]> {
  if (profile.kind !== "relay") return page.context().cookies();
  return (await cdp.send("Network.getCookies")).cookies;
}

interface StorageEntry {
  readonly which: string;
  readonly key: string;
  readonly value: string;
}

function readStorage({ which, key }: { readonly which: string; readonly key: string | undefined }) {
  const storage = which === "local" ? localStorage : sessionStorage;
  const keys = key === undefined ? Object.keys(storage) : [key];
  const entries = keys.map((one) => [one, storage.getItem(one)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== null)) as Record<string, string>;
}

function writeStorage({ which, key, value }: StorageEntry): void {
  (which === "local" ? localStorage : sessionStorage).setItem(key, value);
}
