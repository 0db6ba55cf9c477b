// Keeps the chunks of the previous build until the next one: a running gateway loads its chunks late.
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const list = "chunks.json";
/** Names that contain a content hash, so chunks of two builds can share a folder. */
const hashed = ["*-????????.js", "ui/assets/*-????????.*"];

/** Call it when `next` is complete and is about to replace `dist`. A package contains one build only. */
export function keepChunks(dist: string, next: string, isPacking: boolean): void {
  const own = globSync(hashed, { cwd: next });
  writeFileSync(join(next, list), JSON.stringify(own));
  if (isPacking || !existsSync(join(dist, list))) return;
  const before = JSON.parse(readFileSync(join(dist, list), "utf8")) as readonly string[];
  for (const file of before.filter((name) => !own.includes(name) && existsSync(join(dist, name))))
    cpSync(join(dist, file), join(next, file));
}
