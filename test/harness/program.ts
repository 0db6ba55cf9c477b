// Programs that some suites need: a suite skips with the command that adds its program.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

export function findProgram(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

/** False when the program is there; else why a test is skipped. */
export function missingProgram(name: string, debianPackage: string = name): string | false {
  return findProgram(name) === undefined ? `needs ${name}: apt-get install ${debianPackage}` : false;
}
