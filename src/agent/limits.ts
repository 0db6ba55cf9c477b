// The bounds of a run, in one place.

export const MAX_MODEL_TURNS = 50;
export const MAX_TOOL_CALLS = 200;
/** The same call with the same arguments so many times in a row: the model is told. */
export const REPEAT_WARN = 3;
/** And so many times: the run ends. */
export const REPEAT_STOP = 5;
export const MAX_OVERFLOW_REPAIRS = 3;
/** Characters of one tool result the model gets; the rest can be read in pieces. */
export const MAX_RESULT_CHARS = 60_000;
export const DEFAULT_RUN_SECONDS = 600;
/** About; no vendor counts the same, and estimates only decide when to act early. */
export const CHARS_PER_TOKEN = 4;
export const IMAGE_TOKENS = 1600;
export const RESERVE_TOKENS = 16_384;
export const KEEP_RECENT_TOKENS = 20_000;
