// Keeps the memory of a long-running process near what it needs: the heap grows in small steps and is collected when idle.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Without these V8 takes what the machine could give: 67 MB for young objects alone, and twice the heap before it collects. */
const FLAGS = ["--semi-space-growth-factor=1", "--heap-growing-percent=50"];

const LOOK_MS = 15_000;
/** Busier than this is no time to collect; a collection stops the process for about 30 ms. */
const IDLE_SHARE = 0.02;
/** So much work leaves garbage that is worth collecting. */
const WORTH_MS = 200;

/** Returns what ends it. */
export function keepHeapSmall(): () => void {
  for (const flag of FLAGS) setFlagsFromString(flag);
  const look = createIdleCollector({ activeMs: () => performance.eventLoopUtilization().active, collect: collectGarbage });
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}

export interface CollectorDeps {
  /** How long the event loop has worked since the process began. */
  activeMs(): number;
  collect(): void;
}

/** To be called every `LOOK_MS`: collects at the first look, later whenever work has ended. */
export function createIdleCollector({ activeMs, collect }: CollectorDeps): () => void {
  let lastLook = 0;
  let lastCollect: number | undefined;
  return () => {
    const now = activeMs();
    const isIdle = now - lastLook < LOOK_MS * IDLE_SHARE;
    lastLook = now;
    // The first tells V8 how large this heap really is; from then on it grows from there and not from its own guess.
    if (lastCollect !== undefined && (!isIdle || now - lastCollect < WORTH_MS)) return;
    collect();
    lastCollect = activeMs();
  };
}

let gc: (() => void) | undefined;

function collectGarbage(): void {
  if (gc === undefined) {
    setFlagsFromString("--expose-gc");
    gc = runInNewContext("gc") as () => void;
  }
  gc();
}
