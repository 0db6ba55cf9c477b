// A model's reply as people get it: without thoughts, control tags and echoes of system lines; or not at all.
import { isSilent } from "../agent/reply.ts";

export interface ReplyTags {
  /** `current` for the message being answered, else the id of a message. */
  readonly replyTo?: string;
  readonly voice?: boolean;
  /** What stood in `[[tts…]]`. */
  readonly speech?: readonly string[];
}

export interface ShapedReply {
  readonly text: string;
  /** Nothing is to be delivered. */
  readonly silent: boolean;
  readonly tags: ReplyTags;
}

export function shapeReply(raw: string): ShapedReply {
  const spoken = withoutSystemLines(withoutThoughts(raw));
  const { text, tags } = takeTags(spoken);
  const shaped = text.trim();
  if (isSilent(shaped)) return { text: "", silent: true, tags: {} };
  return { text: shaped, silent: shaped === "", tags };
}

const thoughtTag = /<(\/?)\s*(?:think|thinking|thought|antthinking)\b[^<>]{0,200}>/gi;

/** Blocks may nest; one left open hides all behind it, since a thought cut short is still a thought. Code stays whole. */
function withoutThoughts(text: string): string {
  if (!text.includes("<")) return text;
  const code = codeSpans(text);
  let depth = 0;
  let from = 0;
  let span = 0;
  const kept: string[] = [];
  for (const match of text.matchAll(thoughtTag)) {
    while ((code[span]?.end ?? Number.POSITIVE_INFINITY) <= match.index) span += 1;
    if ((code[span]?.start ?? Number.POSITIVE_INFINITY) <= match.index) continue;
    if (depth === 0) kept.push(text.slice(from, match.index));
    depth = match[1] === "/" ? Math.max(0, depth - 1) : depth + 1;
    from = match.index + match[0].length;
  }
  if (depth === 0) kept.push(text.slice(from));
  return kept.join("").replace(/<\/?final\s*>/gi, "");
}

function codeSpans(text: string): { readonly start: number; readonly end: number }[] {
  return [...text.matchAll(/```[^]*?(?:```|$)|`[^`\n]+`/g)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** Lines the house puts in front of turns; a model that repeats them, there or with their stamp, says nothing with it. */
function withoutSystemLines(text: string): string {
  if (!text.includes("System:")) return text;
  const lines = text.trimStart().split("\n");
  const first = lines.findIndex((line) => !line.startsWith("System:"));
  return first === -1
    ? ""
    : lines
        .slice(first)
        .filter((line) => !/^System: ?\[/.test(line))
        .join("\n");
}

const tagPattern =
  /\[\[\s*(reply_to_current|reply_to\s*:\s*([^\][\n]{1,200})|audio_as_voice|tts(?::([^\][\n]{0,500}))?|\/tts(?::[a-z]{1,20})?)\s*\]\][ \t]?/gi;

function takeTags(text: string): { readonly text: string; readonly tags: ReplyTags } {
  if (!text.includes("[[")) return { text, tags: {} };
  const found: { replyTo?: string; voice?: boolean; speech?: string[] } = {};
  const left = text.replace(tagPattern, (_whole, tag: string, id?: string, speech?: string) => {
    const word = tag.toLowerCase();
    if (word.startsWith("reply_to")) found.replyTo ??= id === undefined ? "current" : id.trim();
    if (word === "audio_as_voice") found.voice = true;
    if (word.startsWith("tts")) (found.speech ??= []).push(speech?.trim() ?? "");
    return "";
  });
  return { text: left, tags: found };
}
