// Files of the gateway or node that no argument of an allowlisted program may name: rules, identities and secrets.
import { join } from "node:path";

import type { Paths } from "../../base/paths.ts";
import { storeFileOf } from "../../store/store-files.ts";
import { approvalsPath } from "../policy/file.ts";
import { lastKnownPath } from "../policy/last-known.ts";

export function gatewayGuardedFiles(paths: Paths): readonly string[] {
  return guardedFiles(paths, ["hooks", ".env"]);
}

/** `stateFile` is the file with the state of the node host. */
export function nodeGuardedFiles(paths: Paths, stateFile: string): readonly string[] {
  return [...guardedFiles(paths, []), stateFile];
}

function guardedFiles({ config, state }: Paths, more: readonly string[]): readonly string[] {
  const approvals = approvalsPath(state);
  const own = ["credentials", "identity", ...more].map((name) => join(state, name));
  return [config, approvals, lastKnownPath(approvals), storeFileOf(state), ...own];
}
