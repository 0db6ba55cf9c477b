// The path of the store in this state folder, if it exists.
import { existsSync } from "node:fs";

import { OpenClawError } from "../core/error.ts";
import { storeFileOf } from "../store/store-files.ts";
import type { Io } from "./io.ts";
import { shortPath } from "./print.ts";

export function requireStore(io: Io): string {
  const file = storeFileOf(io.paths().state);
  if (existsSync(file)) return file;
  throw new OpenClawError("store.missing", `there is no store at ${shortPath(file, io)} yet`, {
    hint: "the first start creates it: openclaw gateway run",
  });
}
