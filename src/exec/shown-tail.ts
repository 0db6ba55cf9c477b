// Cuts the end of an output after redacting secrets, because half a secret would not be recognized.
import { redactCommand } from "../base/command-secrets.ts";
import type { Mask } from "../base/mask.ts";
import type { Output } from "./running.ts";

export type TailMask = Pick<Mask, "unfinished" | "command"> & ((text: string) => string);

/** For callers without secrets. */
export const noMask: TailMask = Object.assign((text: string) => text, {
  unfinished: () => 0,
  command: (text: string) => redactCommand(text),
});

/** Longer than any known secret in any encoding. */
const MARGIN_CHARS = 16_384;

/** Returns at most `chars`. While the command runs, text that could be the beginning of a secret is held back. */
export function shownTail(output: Pick<Output, "tail">, chars: number, mask: TailMask, isEnd: boolean): string {
  const text = output.tail(chars + MARGIN_CHARS);
  const open = isEnd ? 0 : mask.unfinished(text);
  return mask(open === 0 ? text : text.slice(0, -open))
    .slice(-chars)
    .toWellFormed();
}
