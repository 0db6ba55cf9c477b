// Whether the state folder is writable and has free space.
import { accessSync, constants, existsSync, statfsSync } from "node:fs";

import { errnoOf } from "../../core/error.ts";
import { ok, shortPath, type Check, type Finding } from "./check.ts";

const MIN_FREE_BYTES = 100_000_000;

export const state: Check = {
  name: "State folder",
  needsConfig: false,
  run({ paths }) {
    const { state: folder } = paths;
    const name = shortPath(folder, { paths });
    if (!existsSync(folder))
      return [
        {
          level: "note",
          message: `${name} does not exist yet; the first start creates it`,
          hint: "openclaw gateway run --setup",
        },
      ];
    try {
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      return [
        {
          level: "fail",
          message: `${name} is not writable (${errnoOf(error) ?? "no access"})`,
          hint: `chmod u+rwx ${folder}`,
        },
      ];
    }
    return [ok(`${name} is writable`), ...spaceFinding(folder, name)];
  },
};

function spaceFinding(folder: string, name: string): Finding[] {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= MIN_FREE_BYTES) return [];
  return [
    {
      level: "warn",
      message: `only ${Math.floor(free / 1_000_000)} MB are free on the disk of ${name}`,
      hint: "free some space; the gateway accepts no work when the disk is full",
    },
  ];
}
