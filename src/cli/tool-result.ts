// Prints the result of a tool: text as text, images as files.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { ImageBlock } from "../core/message.ts";
import type { ToolResult } from "../tool/tool.ts";
import type { Io } from "./io.ts";
import { safe, toJson } from "./print.ts";

export async function printResult(io: Io, result: ToolResult): Promise<void> {
  if (io.json) {
    io.print(toJson(result));
    return;
  }
  for (const block of result.content) {
    if (block.type === "image") io.print(savePicture(block));
    else printText(io, block.text);
  }
}

/** A pipe gets the bytes unchanged; on a terminal, control characters are escaped. */
function printText(io: Io, text: string): void {
  const shown = io.interactive ? safe(text) : text;
  io.write(shown === "" || shown.endsWith("\n") ? shown : `${shown}\n`);
}

const endings: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};

function savePicture({ data, mimeType }: ImageBlock): string {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-"));
  const file = join(folder, `picture.${endings[mimeType] ?? "bin"}`);
  writeFileSync(file, Buffer.from(data, "base64"), { mode: 0o600 });
  return file;
}
