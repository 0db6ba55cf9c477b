// A repair of the config file: read anew, edited, checked, written with the old version kept.
import { sha256 } from "../../base/ids.ts";
import { editText, type Edit } from "../../config/edit.ts";
import { readMain } from "../../config/parts.ts";
import { writeConfig } from "../../config/write.ts";
import type { Io } from "../io.ts";

/** The repair before this one may have changed the file, so nothing read earlier is used. */
export function rewriteConfig(io: Io, edits: readonly Edit[]): void {
  const paths = io.paths();
  const { bytes } = readMain(paths.config);
  writeConfig({
    paths,
    env: io.env,
    nextText: editText(bytes.toString("utf8"), edits),
    baseHash: sha256(bytes),
    stepwise: true,
  });
}
