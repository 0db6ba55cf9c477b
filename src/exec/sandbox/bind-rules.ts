// Host folders an owner mounts into boxes: parsed, and refused where they would open the box or give away secrets.
import { posix } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { expandHome } from "../../base/paths.ts";
import type { Mount } from "../sandbox.ts";
import { canonicalPath, isWithin } from "./hidden-paths.ts";

/** Host folders that run the machine, hold its users or its engine. They, what is in them and what holds them stay out. */
const protectedFolders: readonly string[] = ["/proc", "/sys", "/dev", "/boot", "/etc", "/root", "/run", "/var/run"];
const sockets: readonly string[] = [
  "/var/run/docker.sock",
  "/run/docker.sock",
  "/run/containerd/containerd.sock",
  "/run/podman/podman.sock",
  "/run/crio/crio.sock",
];
/** Inside: mounting there would replace what holds the box together. */
const closedInside: readonly string[] = ["/proc", "/sys", "/dev", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64"];

export interface BindContext {
  readonly home: string;
  /** State, config, approvals and keys, without links. */
  readonly hidden: readonly string[];
  /** Paths inside that are taken already. */
  readonly taken: readonly string[];
}

/** `host:container[:ro|rw]`. Throws `sandbox.refused` naming the bind and why. */
export function parseBind(text: string, context: BindContext): Mount {
  const [host = "", inside = "", access = "rw", ...rest] = text.split(":");
  if (rest.length > 0 || !/^(~|\/)/.test(host) || !inside.startsWith("/") || !["ro", "rw"].includes(access)) {
    throw refuse(text, "it is not written as /host/folder:/inside[:ro]");
  }
  const place = posix.normalize(inside).replace(/(?<=.)\/$/, "");
  if (place === "/" || [...closedInside, ...context.taken].some((closed) => overlaps(place, closed))) {
    throw refuse(text, `${place} inside belongs to the sandbox itself`);
  }
  const given = expandHome(host, context.home);
  for (const path of new Set([posix.normalize(given), canonicalPath(given)])) refusePath(text, path, context);
  return { inside: place, host: canonicalPath(given), writable: access === "rw" };
}

function refusePath(text: string, path: string, { home, hidden }: BindContext): void {
  if (path === "/") throw refuse(text, "that is the whole disk");
  const socket = sockets.find((closed) => overlaps(path, closed));
  if (socket !== undefined || /\/(docker|containerd|podman|crio)[^/]*\.sock$/.test(path)) {
    throw refuse(text, `it reaches ${socket ?? path}, and whoever speaks to that engine owns this machine`);
  }
  const secret = hidden.find((closed) => overlaps(path, closed));
  if (secret !== undefined) throw refuse(text, `it reaches ${secret}, which holds the gateway's state or keys`);
  // A home below /root is open as far as no key lies in the way; the rest of such folders is not.
  const closed = protectedFolders.find((folder) => overlaps(path, folder) && !(path !== home && isWithin(path, home)));
  if (closed !== undefined) throw refuse(text, `it reaches ${closed}, which belongs to the system`);
}

/** One holds the other: a parent gives away its children. */
function overlaps(path: string, other: string): boolean {
  return isWithin(path, other) || isWithin(other, path);
}

function refuse(text: string, why: string): OpenClawError {
  return new OpenClawError("sandbox.refused", `the sandbox does not mount ${JSON.stringify(text)}: ${why}`, {
    hint: "remove it from sandbox.docker.binds, or name a folder that holds nothing but what the agent needs",
  });
}
