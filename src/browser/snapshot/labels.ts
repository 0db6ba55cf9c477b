// A picture of the viewport with the references drawn beside their elements.
import type { Tab } from "../tab.ts";
import type { AriaNode, Box } from "./tree.ts";
import { childrenOf } from "./tree.ts";

const MAX_LABELS = 200;

export interface Label {
  readonly ref: string;
  readonly box: Box;
}

/** Boxes of a frame are relative to it, so the offset of the frame is added. */
export function labelsOf(tree: readonly (AriaNode | string)[], refs: ReadonlyMap<string, string>): Label[] {
  const labels: Label[] = [];
  const walk = (nodes: readonly (AriaNode | string)[], x: number, y: number): void => {
    for (const node of nodes) {
      if (typeof node === "string" || labels.length >= MAX_LABELS) continue;
      const { ref, box, role } = node;
      const name = ref === undefined ? undefined : refs.get(ref);
      if (name !== undefined && box !== undefined && box.width > 0 && box.height > 0)
        labels.push({ ref: name, box: { ...box, x: box.x + x, y: box.y + y } });
      const isFrame = role === "iframe" && box !== undefined;
      walk(childrenOf(node), isFrame ? x + box.x : x, isFrame ? y + box.y : y);
    }
  };
  walk(tree, 0, 0);
  return labels;
}

export async function screenshotWithLabels(
  { page }: Tab,
  labels: readonly Label[],
  timeoutMs: number,
): Promise<Buffer> {
  await page.evaluate(`(${draw})(${JSON.stringify(labels)})`);
  try {
    return await page.screenshot({ scale: "css", timeout: timeoutMs });
  } finally {
    await page.evaluate(`document.getElementById("openclaw-labels")?.remove()`);
  }
}

/** A closed shadow tree keeps the page's styles away. */
const draw = String.raw`(labels) => {
  const host = document.createElement("div");
  host.id = "openclaw-labels";
  host.style.cssText = "position:fixed;inset:0;z-index:2147483647;pointer-events:none";
  host.setAttribute("aria-hidden", "true");
  const root = host.attachShadow({ mode: "closed" });
  for (const { ref, box } of labels) {
    const frame = document.createElement("div");
    frame.style.cssText = "position:fixed;border:1px solid #f40;left:" + box.x + "px;top:" + box.y + "px;width:" + box.width + "px;height:" + box.height + "px";
    const tag = document.createElement("span");
    tag.textContent = ref;
    tag.style.cssText = "position:absolute;left:0;top:-13px;font:bold 11px/13px monospace;color:#fff;background:#f40;padding:0 2px";
    frame.append(tag);
    root.append(frame);
  }
  document.documentElement.append(host);
}`;
