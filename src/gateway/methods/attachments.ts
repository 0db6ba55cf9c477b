// Attachments of `chat.send` and `agent`: pictures go along, sound and film are saved where a model understands them.
import { OpenClawError } from "../../core/error.ts";
import type { ImageBlock } from "../../core/message.ts";
import { mediaEntries } from "../../agent/media/settings.ts";
import type { Config } from "../../config/schema/index.ts";
import { kindOfType, mimeTypeOf } from "../../media/media-type.ts";
import type { MediaStore } from "../../media/store.ts";
import type { MediaReference, TurnRequest } from "../../session/turns.ts";

interface Attachment {
  readonly mimeType?: string;
  readonly fileName?: string;
  readonly content?: unknown;
}

/**
 * The content decides what an attachment is, not its name or declared type. Rejects the whole message with the name of an
 * attachment that no model reads, before any file is saved.
 */
export async function readAttachments(
  attachments: readonly Attachment[] | undefined,
  { media: store, config }: { readonly media: MediaStore; readonly config: () => Config },
): Promise<Pick<TurnRequest, "images" | "media">> {
  const images: ImageBlock[] = [];
  const files: { readonly bytes: Buffer; readonly fileName: string | undefined }[] = [];
  for (const { content, fileName } of attachments ?? []) {
    const bytes =
      typeof content === "string" ? Buffer.from(content.replace(/^data:[^,]*,/, ""), "base64") : Buffer.alloc(0);
    const mimeType = mimeTypeOf(bytes);
    const kind = kindOfType(mimeType);
    if (kind === "image") images.push({ type: "image", data: bytes.toString("base64"), mimeType });
    else if (kind !== "document" && mediaEntries(config(), kind).length > 0) files.push({ bytes, fileName });
    else throw rejected(fileName, kind === "document" ? "" : `; ${kind} needs a model in tools.media.${kind}.models`);
  }
  const media: MediaReference[] = [];
  for (const { bytes, fileName } of files)
    media.push({ ...(await store.save("inbound", bytes)), ...(fileName === undefined ? {} : { fileName }) });
  return { ...(images.length === 0 ? {} : { images }), ...(media.length === 0 ? {} : { media }) };
}

function rejected(fileName: string | undefined, more: string): OpenClawError {
  const name = fileName === undefined || fileName === "" ? "" : ` ${fileName}`;
  return new OpenClawError("wire.invalid-request", `attachment${name} is not a png, jpeg, gif or webp image${more}`);
}
