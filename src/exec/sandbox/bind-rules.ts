// Parses the host folders that an owner mounts into sandboxes, and rejects those that would open the sandbox or expose
// secrets.
import { posix } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { expandHome } from "../../base/paths.ts";
import type { Mount } from "../sandbox.ts";
import { canonicalPath, engineSockets, isWithin } from "./hidden-paths.ts";

/**
 * Host folders that hold the system, its users or the container engine. Neither they nor their parents or children can
 * be mounted.
 */
const protectedFolders: readonly string[] = ["/proc", "/sys", "/dev", "/boot", "/etc", "/root", "/run", "/var/run"];
const sockets: readonly string[] = [...engineSockets, "/run/crio/crio.sock"];
/** Paths inside that a mount would break. */
const closedInside: readonly string[] = ["/proc", "/sys", "/dev", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64"];

export interface BindContext {
  readonly home: string;
  /** State, config, approvals and keys, with links resolved. */
  readonly hidden: readonly string[];
  /** Paths inside that are already used. */
  readonly taken: readonly string[];
}

/** `host:container[:ro|rw]`. Throws `sandbox.refused` with the bind and the reason. */
export function parseBind(text: string, context: BindContext): Mount {
  const [host = "", inside = "", access = "rw", ...rest] = text.split(":");
  if (rest.length > 0 || !/^(~|\/)/.test(host) || !inside.startsWith("/") || !["ro", "rw"].includes(access)) {
    throw refuse(text, "the format is /host/folder:/inside[:ro]");
  }
  const place = posix.normalize(inside).replace(/(?<=.)\/$/, "");
  if (place === "/" || [...closedInside, ...context.taken].some((closed) => overlaps(place, closed))) {
    throw refuse(text, `${place} is reserved inside the sandbox`);
  }
  const given = expandHome(host, context.home);
  for (const path of new Set([posix.normalize(given), canonicalPath(given)])) refusePath(text, path, context);
  return { inside: place, host: canonicalPath(given), writable: access === "rw" };
}

function refusePath(text: string, path: string, { home, hidden }: BindContext): void {
  if (path === "/") throw refuse(text, "that is the whole disk");
  const socket = sockets.find((closed) => overlaps(path, closed));
  if (socket !== undefined || /\/(docker|containerd|podman|crio)[^/]*\.sock$/.test(path)) {
    throw refuse(text, `it contains ${socket ?? path}, and access to that engine gives control of this machine`);
  }
  const secret = hidden.find((closed) => overlaps(path, closed));
  if (secret !== undefined) throw refuse(text, `it contains ${secret}, which holds the gateway's state or keys`);
  // A folder below a home in /root is allowed if it holds no keys; other folders there are not.
  const closed = protectedFolders.find((folder) => overlaps(path, folder) && !(path !== home && isWithin(path, home)));
  if (closed !== undefined) throw refuse(text, `it contains ${closed}, which belongs to the system`);
}

/** True when one contains the other, since mounting a parent exposes its children. */
function overlaps(path: string, other: string): boolean {
  return isWithin(path, other) || isWithin(other, path);
}

function refuse(text: string, why: string): OpenClawError {
  return new OpenClawError("sandbox.refused", `the sandbox cannot mount ${JSON.stringify(text)}: ${why}`, {
    hint: "remove it from sandbox.docker.binds, or choose a folder that contains only what the agent needs",
  });
}
