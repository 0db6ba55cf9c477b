// Creates and deletes browser profiles in the config; the data of a deleted one goes to the trash.
import type { ControlAnswer } from "./control.ts";
import { browserError } from "./errors.ts";
import { blocked } from "./page-guard.ts";
import { builtInProfiles, findProfile, freePort, isLoopback, maskUrl, requireProfileName } from "./profiles.ts";
import type { RouteCall } from "./route.ts";
import { moveToTrash } from "./trash.ts";

export interface NewProfile {
  readonly name: string;
  readonly color?: string;
  readonly cdpUrl?: string;
  readonly driver?: "openclaw" | "extension";
}

const colors = ["#FF4500", "#0066CC", "#00AA00", "#8B5CF6", "#D97706", "#DB2777", "#0D9488", "#64748B"] as const;

export async function createProfile(wanted: NewProfile, call: RouteCall): Promise<ControlAnswer> {
  const { browsers } = call;
  const { name, cdpUrl, driver } = wanted;
  requireProfileName(name);
  const known = browsers.profiles();
  if (known.some((profile) => profile.name === name))
    throw browserError("browser.profile-exists", `browser profile "${name}" already exists`, {
      hint: "choose another name, or delete it first: action=delete-profile",
    });
  const color = readColor(wanted.color) ?? colors[known.length % colors.length];
  if (cdpUrl !== undefined) await requireUrl(cdpUrl, call);
  const isLocal = cdpUrl === undefined && driver !== "extension";
  const taken = new Set(known.flatMap(({ cdpPort }) => (cdpPort === undefined ? [] : [cdpPort])));
  const port = isLocal ? { cdpPort: freePort(browsers.deps.ports(), taken) } : {};
  const entry = {
    ...port,
    ...(cdpUrl === undefined ? {} : { cdpUrl }),
    color,
    ...(driver === undefined ? {} : { driver }),
  };
  await edit(call, [{ path: ["browser", "profiles", name], value: entry }]);
  const made = findProfile(browsers.profiles(), name);
  return {
    ok: true,
    profile: name,
    ...(made.cdpPort === undefined ? {} : { cdpPort: made.cdpPort }),
    cdpUrl: maskUrl(made.cdpUrl),
    color: made.color,
    isRemote: made.kind === "remote",
  };
}

/** The data of a managed profile goes to the trash; a remote profile has only its entry. */
export async function deleteProfile(name: string, call: RouteCall): Promise<ControlAnswer> {
  const { browsers } = call;
  const profile = findProfile(browsers.profiles(), name);
  if (builtInProfiles.includes(name))
    throw browserError("browser.built-in-profile", `browser profile "${name}" is built in and cannot be deleted`, {
      hint: "action=reset-profile ends its browser",
    });
  if (profile.isDefault)
    throw browserError("browser.built-in-profile", `browser profile "${name}" is the default profile`, {
      hint: "choose another default first: openclaw config set browser.defaultProfile openclaw",
    });
  await browsers.stop(profile);
  await edit(call, [{ path: ["browser", "profiles", name], remove: true }]);
  const { paths, env } = browsers.deps;
  const trash =
    profile.kind === "managed"
      ? moveToTrash(browsers.folder(profile), `openclaw-browser-${name}`, paths.state, env)
      : undefined;
  return { ok: true, profile: name, deleted: true, ...(trash === undefined ? {} : { trash }) };
}

async function edit({ browsers }: RouteCall, edits: Parameters<Editor>[0]): Promise<void> {
  const { editConfig } = browsers.deps;
  if (editConfig === undefined) throw browserError("browser.bad-request", "this browser has a fixed set of profiles");
  await editConfig(edits);
}

type Editor = NonNullable<RouteCall["browsers"]["deps"]["editConfig"]>;

function readColor(color: string | undefined): string | undefined {
  if (color === undefined) return undefined;
  const digits = /^#?([0-9a-fA-F]{6})$/.exec(color.trim())?.[1];
  if (digits !== undefined) return `#${digits.toUpperCase()}`;
  throw browserError("browser.bad-request", "color must be six hexadecimal digits such as #FF4500");
}

/** An agent must not reach private hosts, or a browser of this machine, by a profile of its own. */
async function requireUrl(cdpUrl: string, { caller, browsers }: RouteCall): Promise<void> {
  const url = URL.parse(cdpUrl);
  if (url === null || !/^(?:https?|wss?):$/.test(url.protocol))
    throw browserError("browser.bad-request", "cdpUrl must be an http, https, ws or wss URL");
  if (caller.who === "owner") return;
  url.protocol = url.protocol === "wss:" || url.protocol === "https:" ? "https:" : "http:";
  const { allowed, reason, hint } = await browsers.deps.guard.check(url.href);
  if (!allowed || isLoopback(cdpUrl))
    throw blocked(reason, hint ?? "the owner can create this profile: openclaw browser create-profile --cdp-url <url>");
}
