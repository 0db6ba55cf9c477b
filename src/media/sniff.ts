// Detects the type of a file from its first bytes; names and declared types are ignored.

export type Sniffed =
  | { readonly kind: "image"; readonly mimeType: ImageType }
  /** `mimeType` only where the bytes leave no doubt about it. */
  | { readonly kind: "binary"; readonly type: string; readonly mimeType?: string }
  | { readonly kind: "text" };

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** How many bytes of a file `sniff` looks at. */
export const SNIFF_BYTES = 8192;

export function sniff(head: Uint8Array): Sniffed {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, SNIFF_BYTES));
  const image = images.find(([, matches]) => matches(bytes))?.[0];
  if (image !== undefined) return { kind: "image", mimeType: image };
  const media = containerOf(bytes);
  if (media !== undefined) return { kind: "binary", ...media };
  const named = binaries.find(([, magic]) => bytes.subarray(0, magic.length).equals(magic));
  if (!bytes.includes(0) && (named === undefined || couldBeProse(named[1]))) return { kind: "text" };
  const type = named?.[0] ?? "unknown";
  return { kind: "binary", type, ...(type === ZIP ? { mimeType: "application/zip" } : {}) };
}

/** Text can begin with "RIFF" or "ID3"; then only a NUL byte marks it as binary. */
function couldBeProse(magic: Buffer): boolean {
  return /^[A-Za-z0-9]+$/.test(magic.toString("latin1"));
}

const startsWith = (...magic: readonly number[]) => {
  const wanted = Buffer.from(magic);
  return (bytes: Buffer): boolean => bytes.subarray(0, wanted.length).equals(wanted);
};

const images: readonly [ImageType, (bytes: Buffer) => boolean][] = [
  ["image/png", startsWith(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)],
  ["image/jpeg", startsWith(0xff, 0xd8, 0xff)],
  ["image/gif", (bytes) => /^GIF8[79]a/.test(bytes.toString("latin1", 0, 6))],
  ["image/webp", (bytes) => bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP"],
];

interface Container {
  readonly type: string;
  readonly mimeType?: string;
}

/** Sound, film and PDF. Some containers hold either sound or film: then the tracks in the first bytes decide. */
function containerOf(bytes: Buffer): Container | undefined {
  const text = bytes.toString("latin1");
  if (text.startsWith("%PDF-")) return { type: "PDF document", mimeType: "application/pdf" };
  if (text.startsWith("\x1a\x45\xdf\xa3")) return matroskaOf(text);
  if (text.startsWith("ftyp", 4)) return mp4Of(text);
  if (text.startsWith("OggS\0")) return oggOf(text);
  if (text.startsWith("fLaC\0")) return { type: "FLAC audio", mimeType: "audio/flac" };
  if (text.startsWith("RIFF") && bytes.includes(0)) return riffOf(text.slice(8, 12));
  if ((text.startsWith("ID3") && bytes.includes(0)) || isMp3Frame(bytes))
    return { type: "MP3 audio", mimeType: "audio/mpeg" };
  if (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xf6) === 0xf0) return { type: "AAC audio", mimeType: "audio/aac" };
  return undefined;
}

function matroskaOf(text: string): Container | undefined {
  const isSound = /A_(?:OPUS|VORBIS)/.test(text) && !/V_[A-Z]/.test(text);
  const docType = text.slice(0, 64);
  if (docType.includes("webm"))
    return isSound ? { type: "WebM audio", mimeType: "audio/webm" } : { type: "WebM video", mimeType: "video/webm" };
  if (!docType.includes("matroska")) return undefined;
  return { type: "Matroska video", mimeType: "video/x-matroska" };
}

function mp4Of(text: string): Container {
  const brand = text.slice(8, 12);
  if (/^(?:heic|heix|mif1|msf1|avif)$/.test(brand)) return { type: `${brand} image` };
  if (brand === "qt  ") return { type: "QuickTime video", mimeType: "video/quicktime" };
  const isSound = /^M4[AB] $/.test(brand) || (text.includes("soun") && !text.includes("vide"));
  if (isSound) return { type: "MP4 audio", mimeType: "audio/mp4" };
  return brand.startsWith("3g")
    ? { type: "3GP video", mimeType: "video/3gpp" }
    : { type: "MP4 video", mimeType: "video/mp4" };
}

function oggOf(text: string): Container {
  return text.slice(0, 256).includes("\x80theora")
    ? { type: "Ogg video", mimeType: "video/ogg" }
    : { type: "Ogg audio", mimeType: "audio/ogg" };
}

function riffOf(form: string): Container | undefined {
  if (form === "WAVE") return { type: "WAV audio", mimeType: "audio/wav" };
  return form === "AVI " ? { type: "AVI video", mimeType: "video/x-msvideo" } : undefined;
}

/** A frame of layer III with a bit rate and a sample rate that exist. */
function isMp3Frame([first = 0, second = 0, third = 0]: Uint8Array): boolean {
  if (first !== 0xff || (second & 0xe6) !== 0xe2 || (second & 0x18) === 0x08) return false;
  return third >> 4 !== 0 && third >> 4 !== 15 && (third & 0x0c) !== 0x0c;
}

const ZIP = "zip archive (also docx, xlsx, jar)";

const binaries: readonly [type: string, magic: Buffer][] = (
  [
    [ZIP, "PK\x03\x04"],
    ["gzip archive", "\x1f\x8b"],
    ["xz archive", "\xfd7zXZ\x00"],
    ["zstd archive", "\x28\xb5\x2f\xfd"],
    ["bzip2 archive", "BZh"],
    ["7z archive", "7z\xbc\xaf\x27\x1c"],
    ["SQLite database", "SQLite format 3\x00"],
    ["ELF program", "\x7fELF"],
    ["WebAssembly module", "\x00asm"],
    ["Mach-O program", "\xcf\xfa\xed\xfe"],
    ["UTF-16 text", "\xff\xfe"],
    ["UTF-16 text", "\xfe\xff"],
    ["RIFF audio or video", "RIFF"],
    ["TIFF image", "II*\x00"],
    ["TIFF image", "MM\x00*"],
  ] as const
).map(([type, magic]) => [type, Buffer.from(magic, "latin1")]);
