// The mark behind a turn that was for nobody: which entry it began with, and whether a model should read it again.
import type { TranscriptEntry } from "../store/store.ts";

export const QUIET = "quiet-turn";

export interface QuietBody {
  readonly customType: typeof QUIET;
  /** Id of the first entry of that turn. */
  readonly from: string;
  /** It neither told nor did anything. */
  readonly forget: boolean;
}

export function quietOf({ type, body }: Pick<TranscriptEntry, "type" | "body">): QuietBody | undefined {
  if (type !== "custom") return undefined;
  const mark = body as Partial<QuietBody> | null;
  return mark?.customType === QUIET && typeof mark.from === "string" ? (mark as QuietBody) : undefined;
}
