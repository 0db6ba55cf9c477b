// A repair of the config file: read anew, changed, checked, written with the old version kept.
import { sha256 } from "../../base/ids.ts";
import { readMain } from "../../config/parts.ts";
import { writeConfig } from "../../config/write.ts";
import type { Io } from "../io.ts";

/** The repair before this one may have changed the file, so nothing read earlier is used. */
export function rewriteConfig(io: Io, change: (text: string) => string): void {
  const paths = io.paths();
  const { bytes } = readMain(paths.config);
  const nextText = change(bytes.toString("utf8"));
  writeConfig({ paths, env: io.env, nextText, baseHash: sha256(bytes), stepwise: true });
}
