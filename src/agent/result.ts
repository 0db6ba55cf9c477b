// Tool results for the model: errors as text, and long results cut with a note how to read the rest.
import { OpenClawError } from "../core/error.ts";
import type { Block } from "../core/message.ts";
import type { ToolOutput } from "../core/event.ts";
import { MAX_RESULT_CHARS } from "./limits.ts";

export interface ToolAnswer extends ToolOutput {
  readonly isError: boolean;
}

export const SKIPPED = "Skipped due to queued user message.";

export const failureAnswer = (text: string, details?: unknown): ToolAnswer => ({
  content: [{ type: "text", text }],
  isError: true,
  ...(details === undefined ? {} : { details }),
});

/** What the model reads about a failed call: what went wrong and how to fix it. */
export function answerOfError(name: string, error: unknown): ToolAnswer {
  if (!(error instanceof OpenClawError))
    return failureAnswer(`${name} failed unexpectedly; the gateway log has the details`);
  const hint = error.hint === undefined ? "" : `\nTo fix: ${error.hint}`;
  return failureAnswer(`${error.message}${hint}`, {
    status: "error",
    tool: name,
    code: error.code,
    error: error.message,
  });
}

/** Keeps head and tail, three to one. For `read` the note names the offset of the next part. */
export function cutAnswer(
  answer: ToolAnswer,
  name: string,
  args: Record<string, unknown>,
  max = MAX_RESULT_CHARS,
): ToolAnswer {
  const total = answer.content.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0);
  if (total <= max) return answer;
  let left = max;
  const content = answer.content.flatMap((block): Block[] => {
    if (block.type !== "text") return [block];
    if (left <= 0) return [{ type: "text", text: `[${block.text.length} characters omitted]` }];
    const share = Math.min(left, block.text.length);
    left -= share;
    return [
      {
        type: "text",
        text: share === block.text.length ? block.text : cutText(block.text, share, readingHint(name, args)),
      },
    ];
  });
  return { ...answer, content };
}

/** `hintFor` gets the text before the gap and returns how to read the missing part. */
export function cutText(text: string, max: number, hintFor: (head: string) => string = () => ""): string {
  if (text.length <= max) return text;
  const headChars = Math.floor((max * 3) / 4);
  const head = wholeLines(text.slice(0, headChars)).toWellFormed();
  const tail = text.slice(text.length - (max - headChars)).toWellFormed();
  const missing = text.length - head.length - tail.length;
  return `${head}\n[… ${missing} characters omitted here.${hintFor(head)} …]\n${tail}`;
}

function readingHint(name: string, args: Record<string, unknown>): (head: string) => string {
  if (name === "exec")
    return () =>
      " They were not stored: filter the output, or run the command with background:true and read it with process log.";
  if (name !== "read") return () => " Request a smaller part to see them.";
  const start = typeof args["offset"] === "number" ? args["offset"] : 1;
  return (head) => ` Continue with read, offset=${start + head.split("\n").length}.`;
}

/** Ends at a line break when that costs little, so that an offset in lines is exact. */
function wholeLines(head: string): string {
  const end = head.lastIndexOf("\n");
  return end > head.length / 2 ? head.slice(0, end) : head;
}
