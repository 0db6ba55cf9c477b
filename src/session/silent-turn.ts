// Marks a turn that people are not shown, and says whether a model should read it again.
import type { TranscriptEntry } from "../store/store.ts";

export const SILENT_TURN = "quiet-turn";

export interface SilentTurnBody {
  readonly customType: typeof SILENT_TURN;
  /** Id of the first entry of that turn. */
  readonly from: string;
  /** The turn had no text and no tool call worth reading again. */
  readonly forget: boolean;
}

export function silentTurnOf({ type, body }: Pick<TranscriptEntry, "type" | "body">): SilentTurnBody | undefined {
  if (type !== "custom") return undefined;
  const mark = body as Partial<SilentTurnBody> | null;
  return mark?.customType === SILENT_TURN && typeof mark.from === "string" ? (mark as SilentTurnBody) : undefined;
}
