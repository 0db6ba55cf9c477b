// Explains that no more files can be opened: names the limit and how to raise it.
import { readFileSync } from "node:fs";

import { errnoOf } from "../core/error.ts";

/** Undefined when neither the error nor its causes are about descriptors. */
export function descriptorLimit(error: unknown): { readonly message: string; readonly hint: string } | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = errnoOf(error);
  if (code === "ENFILE")
    return {
      message: "this machine has no file descriptors left (ENFILE)",
      hint: "close other programs, or raise the limit of the system: sysctl -w fs.file-max=1000000",
    };
  if (code !== "EMFILE") return descriptorLimit(error.cause);
  return {
    message: `the gateway has no file descriptors left (EMFILE${softLimit === undefined ? "" : `, its limit is ${softLimit}`})`,
    hint: "raise the limit before the gateway starts: ulimit -n 65536, or LimitNOFILE=65536 in its systemd unit",
  };
}

// Read at load time, because reading it needs a descriptor.
const softLimit = readSoftLimit();

function readSoftLimit(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
