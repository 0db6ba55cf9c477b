// Can the state folder be written, and is there room.
import { accessSync, constants, existsSync, statfsSync } from "node:fs";

import { errnoOf } from "../../core/error.ts";
import { shortPath } from "../print.ts";
import { ok, type Check, type Finding } from "./check.ts";

const LEAST_FREE_BYTES = 100_000_000;

export const state: Check = {
  name: "State folder",
  needsConfig: false,
  look({ io }) {
    const { state: folder } = io.paths();
    const name = shortPath(folder, io);
    if (!existsSync(folder))
      return [
        {
          level: "note",
          message: `${name} is not there yet; it is made at the first start`,
          hint: "openclaw gateway run --setup",
        },
      ];
    try {
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      return [
        {
          level: "fail",
          message: `${name} cannot be written (${errnoOf(error) ?? "no access"})`,
          hint: `chmod u+rwx ${folder}`,
        },
      ];
    }
    return [ok(`${name} can be written`), ...room(folder, name)];
  },
};

function room(folder: string, name: string): Finding[] {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= LEAST_FREE_BYTES) return [];
  return [
    {
      level: "warn",
      message: `only ${Math.floor(free / 1_000_000)} MB are free on the disk of ${name}`,
      hint: "free some space; a full disk stops the gateway from taking anything in",
    },
  ];
}
