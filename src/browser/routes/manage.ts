// Routes that start, stop, list, create and delete browsers and profiles.
import { Type } from "../../core/schema.ts";
import { browserError } from "../errors.ts";
import { createProfile, deleteProfile } from "../profile-changes.ts";
import { maskUrl, type Profile } from "../profiles.ts";
import { route } from "../route.ts";
import { countTabsOf, statusOf } from "../status.ts";

const closed = { additionalProperties: false };
const none = Type.Object({}, closed);
const optional = Type.Optional;
const text = Type.String({ minLength: 1 });

export const manageRoutes = [
  route("GET", "/", none, (_params, { browsers, profile }) => statusOf(browsers, profile)),
  route("POST", "/start", none, async (_params, call) => {
    const { browsers, profile } = call;
    requireLocal(profile, "started");
    await call.connection();
    browsers.takeLoss(profile);
    return { ok: true, profile: profile.name };
  }),
  route("POST", "/stop", none, async (_params, { browsers, profile }) => {
    requireLocal(profile, "stopped");
    const stopped = await browsers.stop(profile);
    return { ok: true, stopped, profile: profile.name };
  }),
  route("POST", "/reset-profile", none, async (_params, { browsers, profile }) => {
    requireLocal(profile, "reset");
    if (profile.kind === "relay")
      throw browserError("browser.built-in-profile", `profile "${profile.name}" is the user's own browser`, {
        hint: 'reset-profile works for managed profiles such as "openclaw"',
      });
    return { ok: true, killed: await browsers.reset(profile), profile: profile.name };
  }),
  route("GET", "/profiles", none, async (_params, { browsers, caller }) => {
    const shown = browsers.profiles().filter(({ name }) => caller.profiles?.includes(name) ?? true);
    return {
      profiles: await Promise.all(
        shown.map(async (profile) => {
          const { name, cdpPort, cdpUrl, color, isDefault, kind, driver } = profile;
          const tabCount = await countTabsOf(browsers, profile);
          return {
            name,
            driver,
            ...(cdpPort === undefined ? {} : { cdpPort }),
            cdpUrl: maskUrl(cdpUrl),
            color,
            running: tabCount !== undefined,
            tabCount: tabCount ?? 0,
            isDefault,
            isRemote: kind === "remote",
          };
        }),
      ),
    };
  }),
  route(
    "POST",
    "/profiles/create",
    Type.Object(
      {
        name: text,
        color: optional(text),
        cdpUrl: optional(text),
        driver: optional(Type.Enum(["openclaw", "extension"])),
      },
      closed,
    ),
    (params, call) => createProfile(params, call),
  ),
  route("DELETE", "/profiles/:name", Type.Object({ name: text }, closed), ({ name }, call) =>
    deleteProfile(name, call),
  ),
];

function requireLocal({ name, kind }: Profile, what: string): void {
  if (kind !== "remote") return;
  throw browserError(
    "browser.remote-profile",
    `browser profile "${name}" is a remote browser, which is only attached to and cannot be ${what}`,
    { hint: "use it directly, for example with action=tabs or action=open" },
  );
}
