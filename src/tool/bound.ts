// Bounds the size of tool results and masks secrets in them, for every caller.
import type { Block } from "../core/message.ts";
import type { Mask } from "../base/mask.ts";
import { redactValues } from "../base/redact-values.ts";
import type { Attachment } from "../protocol/methods/tools.ts";
import type { ToolResult } from "./tool.ts";

const MAX_TEXT = 262_144;
const MAX_IMAGE = 16_000_000;
const MAX_DETAILS = 2_000_000;
const MAX_ATTACHMENTS = 16_000_000;

export function boundResult(result: ToolResult, mask: Mask): ToolResult {
  const budget = { text: MAX_TEXT, image: MAX_IMAGE };
  const content = result.content.map((block) => boundBlock(block, budget, mask));
  return {
    content,
    ...(result.details === undefined ? {} : { details: boundDetails(result.details, mask) }),
    ...(result.isError === true ? { isError: true } : {}),
    ...(result.attachments === undefined ? {} : { attachments: boundAttachments(result.attachments, mask) }),
  };
}

/** Attachments that do not fit are left out from the end; the text about them stays. */
function boundAttachments(attachments: readonly Attachment[], mask: Mask): readonly Attachment[] {
  let left = MAX_ATTACHMENTS;
  return attachments.flatMap((attachment) => {
    left -= JSON.stringify(attachment).length;
    return left >= 0 ? [attachment.type === "audio" ? attachment : maskAttachment(attachment, mask)] : [];
  });
}

function maskAttachment(attachment: Exclude<Attachment, { type: "audio" }>, mask: Mask): Attachment {
  if (attachment.type === "resource_link") return redactValues(attachment, mask);
  const { blob, ...resource } = attachment.resource;
  return { type: "resource", resource: { ...redactValues(resource, mask), ...(blob === undefined ? {} : { blob }) } };
}

function boundBlock(block: Block, budget: { text: number; image: number }, mask: Mask): Block {
  if (block.type === "image") {
    budget.image -= block.data.length;
    return budget.image >= 0
      ? block
      : { type: "text", text: `[image left out: over ${MAX_IMAGE} bytes in one result]` };
  }
  const text = mask(block.text);
  const kept = text.slice(0, Math.max(0, budget.text));
  budget.text -= text.length;
  if (kept.length === text.length) return text === block.text ? block : { type: "text", text };
  return { type: "text", text: `${kept.toWellFormed()}\n[cut: ${text.length - kept.length} more characters]` };
}

function boundDetails(details: unknown, mask: Mask): unknown {
  const written = JSON.stringify(details);
  if (written === undefined) return undefined;
  if (written.length > MAX_DETAILS) return { cut: true, bytes: written.length };
  const masked = mask(written);
  return masked === written ? details : (JSON.parse(masked) as unknown);
}
