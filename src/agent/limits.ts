// The limits of a run.

export const MAX_MODEL_TURNS = 50;
export const MAX_TOOL_CALLS = 200;
/** After this many identical calls in a row the model gets a warning. */
export const REPEAT_WARN = 3;
/** After this many the run ends. */
export const REPEAT_STOP = 5;
export const MAX_OVERFLOW_REPAIRS = 3;
/** Characters of one tool result that the model gets; the rest can be read in parts. */
export const MAX_RESULT_CHARS = 60_000;
export const DEFAULT_RUN_SECONDS = 600;
/** An estimate: vendors count differently, and it only decides when to act early. */
export const CHARS_PER_TOKEN = 4;
export const IMAGE_TOKENS = 1600;
export const RESERVE_TOKENS = 16_384;
export const KEEP_RECENT_TOKENS = 20_000;
