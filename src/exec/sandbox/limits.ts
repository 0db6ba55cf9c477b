// Resource limits of a sandbox: control groups where they can be created, process limits everywhere.
import { totalmem } from "node:os";

import { OpenClawError } from "../../core/error.ts";
import type { ContainerSettings, Ulimit } from "../sandbox-settings.ts";

export interface Limits {
  readonly pids: number;
  readonly memoryBytes: number;
  /** Memory plus swap. */
  readonly memorySwapBytes: number;
  readonly cpus: number | undefined;
  /** Named as in `ulimits`. */
  readonly process: Readonly<Record<string, Ulimit>>;
}

/** Defaults: enough for any build, not enough to exhaust the machine. */
const DEFAULT_PIDS = 512;
const DEFAULT_FILE_BYTES = 4 * 2 ** 30;

export function limitsOf(container: ContainerSettings): Limits {
  const memoryBytes = bytesOf(container.memory, "memory") ?? Math.floor(totalmem() / 2);
  return {
    pids: container.pidsLimit ?? DEFAULT_PIDS,
    memoryBytes,
    memorySwapBytes: Math.max(memoryBytes, bytesOf(container.memorySwap, "memorySwap") ?? memoryBytes),
    cpus: container.cpus,
    process: { core: 0, fsize: DEFAULT_FILE_BYTES, ...container.ulimits },
  };
}

const units: Readonly<Record<string, number>> = { b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** `512m`, `1g`, `2GiB`, or a number of bytes. */
export function bytesOf(value: string | number | undefined, key: string): number | undefined {
  if (value === undefined) return undefined;
  const match = /^(\d+(?:\.\d+)?)\s*([bkmgt])?(?:i?b)?$/i.exec(String(value).trim());
  const bytes = match === null ? 0 : Math.floor(Number(match[1]) * (units[(match[2] ?? "b").toLowerCase()] ?? 1));
  if (bytes > 0) return bytes;
  throw new OpenClawError(
    "sandbox.refused",
    `sandbox.docker.${key} is not an amount of memory: ${JSON.stringify(value)}`,
    {
      hint: `write it as 512m or 2g: openclaw config set agents.defaults.sandbox.docker.${key} 2g`,
    },
  );
}

/** Flags of the shell's `ulimit`, with the bytes per unit. */
const flags: Readonly<Record<string, readonly [flag: string, unit: number]>> = {
  core: ["c", 512],
  cpu: ["t", 1],
  data: ["d", 1024],
  fsize: ["f", 512],
  memlock: ["l", 1024],
  nofile: ["n", 1],
  rss: ["m", 1024],
  stack: ["s", 1024],
  as: ["v", 1024],
};

/** Shell lines that set process limits before the sandbox is entered. */
export function ulimitScript({ process }: Limits): string {
  return Object.entries(process)
    .map(([name, limit]) => ulimitLine(name, limit))
    .join("");
}

function ulimitLine(name: string, limit: Ulimit): string {
  const [soft, hard] = softAndHard(name, limit);
  // Before the sandbox is entered this limit counts per user on the whole machine, so bubblewrap.ts sets it inside.
  if (name === "nproc") return "";
  const flag = flags[name];
  if (flag === undefined) {
    throw new OpenClawError(
      "sandbox.refused",
      `sandbox.docker.ulimits.${name} cannot be set by the bubblewrap sandbox`,
      {
        hint: `use one of ${Object.keys(flags).join(", ")}, nproc; or set sandbox.backend to docker`,
      },
    );
  }
  const amount = (value: number): string => (value < 0 ? "unlimited" : String(Math.ceil(value / flag[1])));
  // A lower limit of this machine stays in force.
  return `ulimit -S -${flag[0]} ${amount(soft)} 2>/dev/null; ulimit -H -${flag[0]} ${amount(hard)} 2>/dev/null; `;
}

/** `1024`, `"1024:2048"`, or `{soft, hard}`; -1 means unlimited. */
export function softAndHard(name: string, limit: Ulimit): readonly [number, number] {
  const [soft, hard] = typeof limit === "object" ? [limit.soft ?? limit.hard, limit.hard ?? limit.soft] : parts(limit);
  if (Number.isInteger(soft) && Number.isInteger(hard)) return [Number(soft), Number(hard)];
  throw new OpenClawError(
    "sandbox.refused",
    `sandbox.docker.ulimits.${name} is not a limit: ${JSON.stringify(limit)}`,
    {
      hint: `write it as 1024, "1024:2048" or {soft: 1024, hard: 2048}`,
    },
  );
}

function parts(limit: string | number): [number, number] {
  const [soft = "", hard = soft] = String(limit).split(":");
  return [Number(soft), Number(hard)];
}
