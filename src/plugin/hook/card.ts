// Reads and checks HOOK.md. A field of the wrong type is an error.
import { OpenClawError } from "../../core/error.ts";
import { visible } from "../../core/visible.ts";
import { parseFrontMatter } from "../../base/front-matter.ts";
import type { HookCard, Requirements } from "./hook.ts";

const knownEvents = ["command", "command:new", "command:reset", "command:stop", "agent:bootstrap", "gateway:startup"];
const namePattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Throws `hook.bad` or `front-matter.bad`. */
export function readCard(text: string, folderName: string): HookCard {
  const { fields } = parseFrontMatter(text);
  const name = textAt(fields, "name") ?? folderName;
  if (!namePattern.test(name))
    throw bad(`"${visible(name, 60)}" is not a valid hook name: use lower-case letters, digits, - and _`);
  const metadata = mapAt(fields, "metadata");
  const own = mapAt(metadata, "openclaw");
  const events = textsAt(own, "events");
  const unknown = events.find((event) => !knownEvents.includes(event));
  if (events.length === 0) throw bad("metadata.openclaw.events is empty");
  if (unknown !== undefined) throw bad(`there is no event "${visible(unknown, 60)}"; known: ${knownEvents.join(", ")}`);
  const emoji = textAt(own, "emoji");
  const homepage = textAt(own, "homepage") ?? textAt(fields, "homepage");
  const exportName = textAt(own, "export");
  return {
    name,
    description: visible(textAt(fields, "description") ?? "", 300),
    ...(emoji === undefined ? {} : { emoji: visible(emoji, 8) }),
    ...(homepage === undefined ? {} : { homepage: visible(homepage, 300) }),
    events,
    ...(exportName === undefined ? {} : { exportName }),
    always: own["always"] === true,
    requires: requirementsIn(own),
  };
}

function requirementsIn(own: Fields): Requirements {
  const given = mapAt(own, "requires");
  const os = [...textsAt(own, "os"), ...textsAt(given, "os")];
  return {
    bins: textsAt(given, "bins"),
    anyBins: textsAt(given, "anyBins"),
    env: textsAt(given, "env"),
    config: textsAt(given, "config"),
    os,
  };
}

type Fields = Readonly<Record<string, unknown>>;

function mapAt(fields: Fields, key: string): Fields {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (value === undefined || value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value as Fields;
  throw bad(`${key} must be an object`);
}

function textAt(fields: Fields, key: string): string | undefined {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value.trim();
  throw bad(`${key} must be text`);
}

function textsAt(fields: Fields, key: string): readonly string[] {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return [value];
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw bad(`${key} must be a list of texts`);
}

function bad(message: string): OpenClawError {
  return new OpenClawError("hook.bad", message, { hint: "fix its HOOK.md" });
}
