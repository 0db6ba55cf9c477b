// Where the process of a managed browser is recorded; apart, so that a gateway without browsers loads nothing more.
import { join } from "node:path";

/** `folder` is that of the profile. The file exists while the browser runs, and after a crash of the gateway. */
export const processFileOf = (folder: string): string => join(folder, "process.json");
