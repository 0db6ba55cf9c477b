// A gateway that runs reads its parts late: what the build before named stays readable, until the next build.
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const list = "chunks.json";
/** Names that tell what is in them: they can stand beside those of another build. */
const hashed = ["*-????????.js", "ui/assets/*-????????.*"];

/** Called when `next` is complete and `dist` is about to be replaced by it. Packages hold one build only. */
export function keepChunks(dist: string, next: string, isPacking: boolean): void {
  const own = globSync(hashed, { cwd: next });
  writeFileSync(join(next, list), JSON.stringify(own));
  if (isPacking || !existsSync(join(dist, list))) return;
  const before = JSON.parse(readFileSync(join(dist, list), "utf8")) as readonly string[];
  for (const file of before.filter((name) => !own.includes(name) && existsSync(join(dist, name))))
    cpSync(join(dist, file), join(next, file));
}
