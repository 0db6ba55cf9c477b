// The process that decodes, turns upright and shrinks one picture, then ends.
import type { Sharp } from "sharp";

export interface FitRequest {
  readonly bytes: Uint8Array;
  readonly maxBytes: number;
  readonly maxSide: number;
}

export type FitAnswer =
  | {
      readonly bytes: Uint8Array;
      readonly mimeType: "image/png" | "image/jpeg";
      readonly width: number;
      readonly height: number;
    }
  | { readonly code: "media.unreadable" | "media.too-large"; readonly error: string };

/** 100 megapixels: a decoded picture stays below 400 MB. */
const MAX_PIXELS = 100_000_000;
const SIDES = [1, 0.75, 0.5, 0.35];
const QUALITIES = [85, 70, 50];

process.once("message", (request: FitRequest) => void answer(request));
process.on("disconnect", () => process.exit(0));

async function answer(request: FitRequest): Promise<void> {
  const result = await fit(request).catch((error: unknown): FitAnswer => ({
    code: "media.unreadable",
    error: messageOf(error),
  }));
  process.send?.(result);
}

async function fit({ bytes, maxBytes, maxSide }: FitRequest): Promise<FitAnswer> {
  const { default: sharp } = await import("sharp");
  const open = (): Sharp => sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" }).autoOrient();
  const { hasAlpha, width, height } = await open().metadata();
  const longest = Math.min(maxSide, Math.max(width, height));
  for (const share of SIDES) {
    const side = Math.max(1, Math.round(longest * share));
    const sized = open().resize({ width: side, height: side, fit: "inside", withoutEnlargement: true });
    if (hasAlpha) {
      const { data, info } = await sized.clone().png({ compressionLevel: 9 }).toBuffer({ resolveWithObject: true });
      if (data.length <= maxBytes)
        return { bytes: data, mimeType: "image/png", width: info.width, height: info.height };
    }
    for (const quality of QUALITIES) {
      const flat = sized.clone().flatten({ background: "#ffffff" }).jpeg({ quality });
      const { data, info } = await flat.toBuffer({ resolveWithObject: true });
      if (data.length <= maxBytes)
        return { bytes: data, mimeType: "image/jpeg", width: info.width, height: info.height };
    }
  }
  return {
    code: "media.too-large",
    error: `the picture does not fit into ${maxBytes} bytes, even at a third of its size`,
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
