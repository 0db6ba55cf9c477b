// Reports changes of config files, however editors and programs save them.
import { realpathSync, statSync, watch, type FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";

export interface WatchOptions {
  readonly files: readonly string[];
  /** Time without further events to wait. */
  readonly debounceMs: number;
  /** Called once per burst of changes, never when the files are unchanged. */
  readonly onChange: () => void;
}

export interface ConfigWatch {
  /** Replaces the watched files: a config may start or stop including others. */
  follow(files: readonly string[]): void;
  /** Checks without waiting: a file that replaced another is already complete. `fits` is called first. */
  look(fits: () => boolean): void;
  close(): void;
}

const retryMs = 1000;

/** Watches folders instead of files, so that a rename over a file is noticed. Does not keep the process alive. */
export function watchConfig({ files, debounceMs, onChange }: WatchOptions): ConfigWatch {
  let watched = files;
  let seen = signatureOf(files);
  let folders: FolderWatch[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const check = (): void => {
    if (folders.some((folder) => !folder.isAlive())) arm();
    const now = signatureOf(watched);
    if (now === seen) return;
    seen = now;
    onChange();
  };
  const soon = (delayMs: number): void => {
    if (isClosed) return;
    clearTimeout(timer);
    timer = setTimeout(check, delayMs).unref();
  };
  const disarm = (): void => {
    for (const folder of folders) folder.close();
    folders = [];
  };
  const arm = (): void => {
    disarm();
    folders = [...namesByFolder(watched)].map(([folder, names]) =>
      watchFolder(folder, (name) => {
        if (name === null || names.has(name)) soon(debounceMs);
      }),
    );
    if (folders.some((folder) => !folder.isAlive())) soon(retryMs);
  };

  arm();
  return {
    follow(next) {
      const known = new Map(watched.map((file, at) => [file, seen.split("|")[at] ?? ""]));
      watched = next;
      // A file that changed after it was read, or was not watched then, must be read again.
      seen = next.map((file) => known.get(file) ?? "not read").join("|");
      arm();
      soon(debounceMs);
    },
    look(fits) {
      if (!isClosed && isReplaced(seen, signatureOf(watched)) && fits()) check();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      disarm();
    },
  };
}

interface FolderWatch {
  /** False once the folder was replaced or removed: its watch is no longer valid. */
  isAlive(): boolean;
  close(): void;
}

function watchFolder(folder: string, onEvent: (name: string | null) => void): FolderWatch {
  const identity = identityOf(folder);
  let watcher: FSWatcher | undefined;
  let failed = identity === undefined;
  const fail = (): void => {
    failed = true;
    onEvent(null);
  };
  try {
    if (!failed) watcher = watch(folder, { persistent: false }, (_, name) => onEvent(name));
    watcher?.on("error", fail);
  } catch (error) {
    // Out of watches, or the folder was just removed: the next check tries again.
    if (!(error instanceof Error)) throw error;
    failed = true;
  }
  return {
    isAlive: () => !failed && identityOf(folder) === identity,
    close: () => watcher?.close(),
  };
}

/** The names to watch in each folder; for a link also its target. */
function namesByFolder(files: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const file of files.flatMap((one) => [one, realOf(one)])) {
    const folder = dirname(file);
    // The folder's own name: the event of its removal.
    folders.set(folder, (folders.get(folder) ?? new Set([basename(folder)])).add(basename(file)));
  }
  return folders;
}

function realOf(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if (error instanceof Error) return file;
    throw error;
  }
}

function identityOf(folder: string): string | undefined {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true ? `${stat.dev}:${stat.ino}` : undefined;
}

function signatureOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
      return stat === undefined ? "absent" : `${stat.ino}:${stat.size}:${stat.mtimeNs}`;
    })
    .join("|");
}

/** Another file under the same name. One written in place may be incomplete, a removed one may return. */
function isReplaced(before: string, now: string): boolean {
  const [old, fresh] = [before, now].map((signature) => signature.split("|").map((file) => file.split(":")[0]));
  return fresh?.every((file) => file !== "absent") === true && fresh.some((file, index) => file !== old?.[index]);
}
