// Which profiles a caller may use (`tools.browser.profiles`): checked for every profile that a request names. Pure.
import { isRecord } from "../core/record.ts";
import type { ControlAnswer, ControlCaller, ControlRequest } from "./control.ts";
import { browserError } from "./errors.ts";
import { decodeSegment } from "./route.ts";

/** Moves the profile into the query, so that the profile that is checked is the one that is used. */
export function withProfileInQuery(request: ControlRequest): ControlRequest {
  const { query = {}, body } = request;
  if (!isRecord(body) || !("profile" in body)) {
    readName(query["profile"]);
    return request;
  }
  const { profile: inBody, ...rest } = body;
  const [first, second] = [readName(query["profile"]), readName(inBody)];
  if (first !== undefined && second !== undefined && first !== second)
    throw browserError("browser.bad-request", `the request names two profiles: "${first}" and "${second}"`);
  const profile = first ?? second;
  return { ...request, body: rest, query: profile === undefined ? query : { ...query, profile } };
}

export function profileOf({ query }: ControlRequest): string | undefined {
  return readName(query?.["profile"]);
}

/** `byDefault` is the profile of a request that names none; undefined when only another machine knows it. */
export function requireAllowedProfiles(
  request: ControlRequest,
  { profiles, profilesKey = "agents.list[].tools.browser.profiles" }: ControlCaller,
  byDefault: string | undefined,
): void {
  if (profiles === undefined) return;
  const managed = managedProfile(request);
  const used = profileOf(request) ?? (isListing(request) || managed !== undefined ? undefined : byDefault);
  const allowed = profiles.join(", ") || "none";
  const denied = [used, managed].find((name) => name !== undefined && !profiles.includes(name));
  if (denied !== undefined)
    throw browserError(
      "browser.profile-denied",
      `this call may not use the browser profile "${denied}" (allowed: ${allowed})`,
      { hint: `use an allowed profile; the owner can add this one to ${profilesKey}` },
    );
  if (used !== undefined || managed !== undefined || isListing(request)) return;
  throw browserError(
    "browser.profile-denied",
    `this call may use only some browser profiles and names none (allowed: ${allowed})`,
    { hint: "name an allowed profile with the profile parameter" },
  );
}

/** The list of profiles without those that the caller may not use. */
export function withoutDeniedProfiles(
  request: ControlRequest,
  answer: ControlAnswer,
  { profiles }: ControlCaller,
): ControlAnswer {
  const list = answer["profiles"];
  if (profiles === undefined || !isListing(request) || !Array.isArray(list)) return answer;
  const isAllowed = (row: unknown): boolean => isRecord(row) && profiles.includes(String(row["name"]));
  return { ...answer, profiles: list.filter(isAllowed) };
}

const isListing = ({ method, path }: ControlRequest): boolean =>
  method === "GET" && path.replace(/\/+$/, "") === "/profiles";

/** The profile that a request creates or deletes. */
function managedProfile({ path, body, query }: ControlRequest): string | undefined {
  const rest = /^\/profiles\/([^/]+)/.exec(path)?.[1];
  if (rest === undefined) return undefined;
  const name = isRecord(body) && "name" in body ? body["name"] : query?.["name"];
  return rest === "create" ? readName(name) : decodeSegment(rest);
}

function readName(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return value;
  throw browserError("browser.bad-request", "the name of a profile is a text");
}
