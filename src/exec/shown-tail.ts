// The end of an output with its secrets hidden before it is cut: half of one no mask would know.
import { hideCommandSecrets } from "../base/command-secrets.ts";
import type { Mask } from "../base/mask.ts";
import type { Output } from "./running.ts";

export type TailMask = Pick<Mask, "unfinished" | "command"> & ((text: string) => string);

/** For callers that know no secrets. */
export const noMask: TailMask = Object.assign((text: string) => text, {
  unfinished: () => 0,
  command: (text: string) => hideCommandSecrets(text),
});

/** Longer than any known value in any of its encodings should be. */
const MARGIN_CHARS = 16_384;

/** At most `chars`. Of a command that still runs, what could be the beginning of a secret is left for later. */
export function shownTail(output: Pick<Output, "tail">, chars: number, mask: TailMask, isEnd: boolean): string {
  const text = output.tail(chars + MARGIN_CHARS);
  const open = isEnd ? 0 : mask.unfinished(text);
  return mask(open === 0 ? text : text.slice(0, -open))
    .slice(-chars)
    .toWellFormed();
}
