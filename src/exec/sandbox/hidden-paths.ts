// Paths that no sandbox shows: the gateway's state and settings, and users' keys.
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import type { Mount } from "../sandbox.ts";

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

/** Access to one of these sockets means root on this machine. */
export const engineSockets: readonly string[] = [
  "/var/run/docker.sock",
  "/run/docker.sock",
  "/run/podman/podman.sock",
  "/run/containerd/containerd.sock",
];

export const credentialPaths = (home: string): string[] => credentials.map((name) => join(home, name));

/** Resolves links; a missing path is resolved from its nearest existing parent. */
export function canonicalPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    const parent = dirname(path);
    return parent === path ? path : join(canonicalPath(parent), basename(path));
  }
}

/** The existing hidden paths inside a mount, at their place in the sandbox. */
export function hiddenIn(
  { host, inside }: Pick<Mount, "host" | "inside">,
  hidden: readonly string[],
): { readonly path: string; readonly isFolder: boolean }[] {
  return hidden
    .filter((path) => path !== host && isWithin(path, host))
    .flatMap((path) => {
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found === undefined
        ? []
        : [{ path: join(inside, path.slice(host.length)), isFolder: found.isDirectory() }];
    });
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === "/" || path.startsWith(`${folder}/`);
}
