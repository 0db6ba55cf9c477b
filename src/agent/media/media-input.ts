// One attachment as the entries read it: a file of the media store, or a picture that came with the message.
import { randomUUID } from "node:crypto";
import { basename } from "node:path";

import type { ImageBlock } from "../../core/message.ts";
import { visible } from "../../core/visible.ts";
import { extensionOf, type MediaKind } from "../../media/media-type.ts";
import type { MediaStore } from "../../media/store.ts";
import type { MediaSource } from "../../model/media/post-file.ts";
import type { MediaReference } from "../../session/turns.ts";

export interface MediaInput extends MediaSource {
  readonly kind: MediaKind;
  /** The name that the sender gave, for people and models. */
  readonly label: string;
  /** For programs. */
  path(): Promise<string>;
}

/** Rejects when the file is gone or not one of the media store. The content decides the type, not the reference. */
export async function openReference(store: MediaStore, { path, fileName }: MediaReference): Promise<MediaInput> {
  const { handle, path: real, ...facts } = await store.open(path);
  await handle.close();
  return {
    ...facts,
    label: labelOf(fileName),
    fileName: basename(real),
    path: async () => real,
    async *open() {
      const file = await store.open(path);
      // Closes the file when it was read or given up.
      yield* file.handle.createReadStream() as AsyncIterable<Uint8Array>;
    },
  };
}

export function ofImage(store: MediaStore, { data, mimeType }: ImageBlock): MediaInput {
  const bytes = Buffer.from(data, "base64");
  let saved: Promise<string> | undefined;
  return {
    kind: "image",
    mimeType,
    size: bytes.length,
    label: "",
    fileName: `${randomUUID()}.${extensionOf(mimeType)}`,
    path: () => (saved ??= store.save("inbound", bytes).then(({ path }) => path)),
    async *open() {
      yield bytes;
    },
  };
}

const MAX_LABEL = 80;

const labelOf = (fileName: string | undefined): string =>
  fileName === undefined ? "" : visible(basename(fileName), MAX_LABEL);
