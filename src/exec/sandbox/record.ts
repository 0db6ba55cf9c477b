// Stores who a sandbox belongs to and when it was created and last used, as one small file in its folder.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import { sandboxBackends } from "../../core/sandbox-backend.ts";
import { checker, Type, type Static } from "../../core/schema.ts";
import { writeFileAtomic } from "../../base/atomic-file.ts";

const RecordSchema = Type.Object({
  name: Type.String(),
  backend: Type.Enum(sandboxBackends),
  scopeKey: Type.String(),
  agent: Type.String(),
  session: Type.String(),
  workspace: Type.String(),
  /** True for the sandbox's own workspace, which is removed with it; false for the agent's. */
  ownsWorkspace: Type.Boolean(),
  image: Type.String(),
  settingsHash: Type.String(),
  createdAt: Type.Number(),
});
export type SandboxRecord = Static<typeof RecordSchema>;
export interface UsedRecord extends SandboxRecord {
  readonly lastUsedAt: number;
}

const recordChecker = checker(RecordSchema);
const FILE = "box.json";

export function writeRecord(folder: string, record: SandboxRecord): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileAtomic(join(folder, FILE), `${JSON.stringify(record)}\n`);
}

export const hasRecord = (folder: string): boolean => existsSync(join(folder, FILE));

/** Undefined for another folder or a damaged record. */
export function readRecord(folder: string): UsedRecord | undefined {
  const file = join(folder, FILE);
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return recordChecker.is(value) ? { ...value, lastUsedAt: statSync(file).mtimeMs } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || ["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}

/** The file's modification time is the time of the last use. */
export function touchRecord(folder: string, nowMs: number): void {
  const seconds = nowMs / 1000;
  utimesSync(join(folder, FILE), seconds, seconds);
}

export function readRecords(root: string): UsedRecord[] {
  try {
    return readdirSync(root).flatMap((name) => readRecord(join(root, name)) ?? []);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

export function removeSandboxFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
