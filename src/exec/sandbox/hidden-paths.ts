// Places of this machine that no box shows: the gateway's own state and settings, and the keys of its people.
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { errnoOf } from "../../core/error.ts";

/** Relative to a home folder. */
const credentials: readonly string[] = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".config/gcloud",
  ".config/gh",
  ".config/op",
  ".password-store",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
  ".local/share/keyrings",
  ".mozilla",
  ".config/google-chrome",
  ".config/chromium",
];

/** Whoever may talk to one of these is root on this machine. */
export const engineSockets: readonly string[] = [
  "/var/run/docker.sock",
  "/run/docker.sock",
  "/run/podman/podman.sock",
  "/run/containerd/containerd.sock",
];

export const credentialPaths = (home: string): string[] => credentials.map((name) => join(home, name));

/** The path without links; what is not there yet is named below the nearest folder that is. */
export function canonicalPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    const parent = dirname(path);
    return parent === path ? path : join(canonicalPath(parent), basename(path));
  }
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === "/" || path.startsWith(`${folder}/`);
}
