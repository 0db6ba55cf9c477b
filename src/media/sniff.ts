// Detects the type of a file from its first bytes; names and declared types are ignored.

export type Sniffed =
  | { readonly kind: "image"; readonly mimeType: ImageType }
  | { readonly kind: "binary"; readonly type: string }
  | { readonly kind: "text" };

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

const SNIFF_BYTES = 8192;

export function sniff(head: Uint8Array): Sniffed {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, SNIFF_BYTES));
  const image = images.find(([, matches]) => matches(bytes))?.[0];
  if (image !== undefined) return { kind: "image", mimeType: image };
  const named = binaries.find(([, magic]) => bytes.subarray(0, magic.length).equals(magic));
  if (!bytes.includes(0) && (named === undefined || couldBeProse(named[1]))) return { kind: "text" };
  return { kind: "binary", type: named?.[0] ?? "unknown" };
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

const binaries: readonly [type: string, magic: Buffer][] = (
  [
    ["PDF document", "%PDF-"],
    ["zip archive (also docx, xlsx, jar)", "PK\x03\x04"],
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
    ["Ogg audio", "OggS"],
    ["FLAC audio", "fLaC"],
    ["MP3 audio", "ID3"],
    ["RIFF audio or video", "RIFF"],
    ["TIFF image", "II*\x00"],
    ["TIFF image", "MM\x00*"],
  ] as const
).map(([type, magic]) => [type, Buffer.from(magic, "latin1")]);
