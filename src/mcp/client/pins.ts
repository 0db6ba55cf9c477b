// What the owner approved of each MCP server, in private files of the state folder: a changed tool is not used until it is
// approved again.
import { readFileSync, rmSync, statSync, watch, type FSWatcher } from "node:fs";
import { join } from "node:path";

import { errnoOf, OpenClawError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import { writeFileAtomic } from "../../base/atomic-file.ts";
import { changesBetween, hasChanges, parseRemoteTool, type RemoteTool } from "./remote-tool.ts";

export interface Pinned {
  /** As they were approved. */
  readonly tools: readonly RemoteTool[];
  /** As the server last declared them, where that differs. */
  readonly pending?: readonly RemoteTool[];
}

export interface Pins {
  /** Undefined when the tools of this server were never seen. */
  read(id: string, identity: string): Pinned | undefined;
  approve(id: string, identity: string, tools: readonly RemoteTool[]): void;
  /** Records what an approved server declares now. */
  saw(id: string, identity: string, tools: readonly RemoteTool[]): void;
  forget(id: string): void;
  /** Differs after every change, also by another process. */
  revision(): string;
  /** Calls the listener after every change, also by another process. Returns how to stop. */
  follow(listener: () => void): () => void;
}

export const mcpFolder = (stateDir: string): string => join(stateDir, "mcp");

/** One tool call reads the revision several times; look at the folder once. */
const LOOK_EVERY_MS = 5;

export function createPins(stateDir: string): Pins {
  const folder = mcpFolder(stateDir);
  const fileOf = (id: string): string => join(folder, `${id}.json`);
  let writes = 0;
  let looked = { at: -Infinity, changed: 0 };
  let revision = "";
  const listeners = new Set<() => void>();
  let watcher: FSWatcher | undefined;
  const tell = (): void => {
    // There may be no later event to look again.
    looked = { at: -Infinity, changed: 0 };
    for (const listener of listeners) listener();
  };
  const write = (id: string, identity: string, pinned: Pinned): void => {
    writes += 1;
    writeFileAtomic(fileOf(id), `${JSON.stringify({ version: 1, identity, ...pinned }, null, 1)}\n`);
    tell();
  };
  const known = new Map<
    string,
    { readonly identity: string; readonly revision: string; readonly pinned: Pinned | undefined }
  >();
  const pins: Pins = {
    read(id, identity) {
      const current = pins.revision();
      const cached = known.get(id);
      if (cached?.revision === current && cached.identity === identity) return cached.pinned;
      const pinned = parsePinned(readText(fileOf(id)), identity, fileOf(id));
      known.set(id, { identity, revision: current, pinned });
      return pinned;
    },
    approve: (id, identity, tools) => write(id, identity, { tools }),
    saw(id, identity, tools) {
      const pinned = pins.read(id, identity);
      if (pinned === undefined) return;
      const before = pinned.pending ?? pinned.tools;
      if (!hasChanges(changesBetween(before, tools))) return;
      const isBack = !hasChanges(changesBetween(pinned.tools, tools));
      write(id, identity, { tools: pinned.tools, ...(isBack ? {} : { pending: tools }) });
    },
    forget(id) {
      writes += 1;
      rmSync(fileOf(id), { force: true });
      tell();
    },
    revision() {
      const now = performance.now();
      if (now - looked.at > LOOK_EVERY_MS) {
        looked = { at: now, changed: changedAt(folder) };
        revision = `${writes} ${looked.changed}`;
      }
      return revision;
    },
    follow(listener) {
      listeners.add(listener);
      watcher ??= watchFolder(folder, tell);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        watcher?.close();
        watcher = undefined;
      };
    },
  };
  return pins;
}

/** Undefined for a folder that does not exist: then no server was approved, and the first approval is written by this process. */
function watchFolder(folder: string, changed: () => void): FSWatcher | undefined {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return undefined;
  const watcher = watch(folder, { persistent: false }, changed);
  watcher.on("error", () => watcher.close());
  return watcher;
}

/** A file that is replaced changes the time of its folder. */
function changedAt(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Another program or address under the same id has its own approval. A damaged file approves no tool. */
function parsePinned(text: string | undefined, identity: string, file: string): Pinned | undefined {
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (!isRecord(value) || !Array.isArray(value["tools"]))
    throw new OpenClawError("mcp.bad-state", `${file} is damaged`, {
      hint: `delete ${file}, then approve the server again`,
    });
  if (value["identity"] !== identity) return undefined;
  const { pending } = value;
  const tools = value["tools"].flatMap((raw) => fromFile(raw) ?? []);
  return Array.isArray(pending) ? { tools, pending: pending.flatMap((raw) => fromFile(raw) ?? []) } : { tools };
}

function fromFile(raw: unknown): RemoteTool | undefined {
  const tool = parseRemoteTool(raw);
  return tool === undefined || !isRecord(raw) ? undefined : { ...tool, readOnly: raw["readOnly"] === true };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // reported by the caller together with JSON of another form
  }
}
