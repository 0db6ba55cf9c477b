// Keeps the memory of a long-running process near what it needs: the heap grows in small steps and is collected when idle.
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Without this V8 takes what the machine could give: 67 MB for young objects alone, and twice the heap before it collects. */
const KEEP_YOUNG_SPACE = "--semi-space-growth-factor=1";
const GROW_YOUNG_SPACE = "--semi-space-growth-factor=4";
const GROW_OLD_SPACE = "--heap-growing-percent=50";

/** Not before it is started: the first users should not wait for it. */
const FIRST_LOOK_MS = 3000;
const LOOK_MS = 15_000;
/** Busier than this is no time to collect; a collection stops the process for about 30 ms. */
const IDLE_SHARE = 0.02;
/** So much work leaves garbage that is worth collecting. */
const WORTH_MS = 200;

/** Returns what ends it. */
export function keepHeapSmall(): () => void {
  setFlagsFromString(KEEP_YOUNG_SPACE);
  setFlagsFromString(GROW_OLD_SPACE);
  const look = createIdleCollector({
    activeMs: () => performance.eventLoopUtilization().active,
    collect: () => collectGarbage(),
    busy: growYoungSpace,
  });
  const first = setTimeout(look, FIRST_LOOK_MS).unref();
  const timer = setInterval(look, LOOK_MS).unref();
  return () => {
    clearTimeout(first);
    clearInterval(timer);
  };
}

export interface CollectorDeps {
  /** How long the event loop has worked since the process began. */
  readonly activeMs: () => number;
  readonly collect: () => void;
  /** Called at each look that finds work going on. */
  readonly busy: () => void;
}

/** To be called every `LOOK_MS`: collects at the first look, later whenever work has ended. */
export function createIdleCollector({ activeMs, collect, busy }: CollectorDeps): () => void {
  let lastLook = 0;
  let lastCollect: number | undefined;
  return () => {
    const now = activeMs();
    const isIdle = now - lastLook < LOOK_MS * IDLE_SHARE;
    lastLook = now;
    if (!isIdle) busy();
    // The first tells V8 how large this heap really is; from then on it grows from there and not from its own guess.
    if (lastCollect !== undefined && (!isIdle || now - lastCollect < WORTH_MS)) return;
    collect();
    lastCollect = activeMs();
  };
}

type CollectGarbage = (options?: { readonly type: "minor" }) => void;
let gc: CollectGarbage | undefined;

function collectGarbage(options?: { readonly type: "minor" }): void {
  if (gc === undefined) {
    setFlagsFromString("--expose-gc");
    gc = runInNewContext("gc") as CollectGarbage;
  }
  gc(options);
}

const YOUNG_SPACE_BYTES = 8 * 1_048_576;

/**
 * Two halves of 4 MB instead of 1: under load that saves a third of what collecting costs, and more brings little. V8
 * takes the size from the command line of Node only, and gives it back when idle; it grows when much survives, so
 * something does.
 */
function growYoungSpace(): void {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  if (young === undefined || young.space_size >= YOUNG_SPACE_BYTES) return;
  setFlagsFromString(GROW_YOUNG_SPACE);
  const surviving = Array.from({ length: 60_000 }, (_, index) => ({ index }));
  collectGarbage({ type: "minor" });
  setFlagsFromString(KEEP_YOUNG_SPACE);
  surviving.length = 0;
}
