// Keeps the memory of a long-running process near what it needs: the heap grows in small steps and is collected when idle.
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Without this V8 uses what the machine could give: 67 MB for young objects alone, and twice the heap before it
 * collects.
 */
const KEEP_YOUNG_SPACE = "--semi-space-growth-factor=1";
const GROW_YOUNG_SPACE = "--semi-space-growth-factor=4";
const GROW_OLD_SPACE = "--heap-growing-percent=50";

/** After the start, so that the first users do not wait for it. */
const FIRST_LOOK_MS = 3000;
const LOOK_MS = 15_000;
/** Above this load no collection starts, because one stops the process for about 30 ms. */
const IDLE_SHARE = 0.02;
/** This amount of work leaves enough garbage to be worth collecting. */
const WORTH_MS = 200;

/** Returns a function that stops it. */
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
  /** Active time of the event loop since the process started. */
  readonly activeMs: () => number;
  readonly collect: () => void;
  /** Called at each check that finds the process busy. */
  readonly busy: () => void;
}

/** Call it every `LOOK_MS`: collects at the first check, later whenever work has ended. */
export function createIdleCollector({ activeMs, collect, busy }: CollectorDeps): () => void {
  let lastLook = 0;
  let lastCollect: number | undefined;
  return () => {
    const now = activeMs();
    const isIdle = now - lastLook < LOOK_MS * IDLE_SHARE;
    lastLook = now;
    if (!isIdle) busy();
    // The first collection tells V8 the real size of this heap; it then grows from there instead of from a guess.
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
 * Two semispaces of 4 MB instead of 1: under load that saves a third of the cost of collection, and more brings little.
 * V8 accepts the size only on Node's command line and releases the space when idle; it grows when much survives, so
 * something must survive.
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
