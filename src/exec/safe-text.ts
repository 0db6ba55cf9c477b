// Turns program output into text that is safe to show: valid Unicode, no terminal sequences, no hidden control
// characters.

const ESC = "\u001b";
/** Runs in linear time: no part can match the same characters in two ways, and each part stops at the next escape. */
const sequences = new RegExp(
  [
    `${ESC}\\[[0-?]*[ -/]*[@-~]`, // CSI: colors, cursor
    `${ESC}\\][^\\u0007${ESC}]*(?:\\u0007|${ESC}\\\\)`, // OSC: titles, links
    `${ESC}[PX^_][^${ESC}]*${ESC}\\\\`, // DCS, SOS, PM, APC
    `${ESC}[ -/]*[0-~]`, // two characters
  ].join("|"),
  "g",
);
/** An incomplete sequence at the end, or a CR that may belong to a CR LF. */
const unfinished = new RegExp(
  `(?:${ESC}(?:\\[[0-?]*[ -/]*|\\][^\\u0007${ESC}]*${ESC}?|[PX^_][^${ESC}]*${ESC}?|[ -/]*)|\\r)$`,
);
/** The longest incomplete sequence to look for; a longer one is treated as text. */
const UNFINISHED_MAX = 4096;

// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** For complete output: an incomplete sequence at the end is shown as it is. */
export function safeText(bytes: Uint8Array): string {
  return clean(decode(bytes));
}

/** For output in progress: `used` bytes were converted; the rest may be the beginning of a character or sequence. */
export function safeTextSoFar(bytes: Uint8Array): { readonly text: string; readonly used: number } {
  const whole = bytes.length - partialCharacter(bytes);
  const raw = decode(bytes.subarray(0, whole));
  const open = unfinished.exec(raw.slice(-UNFINISHED_MAX));
  if (open === null) return { text: clean(raw), used: whole };
  const held = open[0].length;
  const heldBytes = Buffer.byteLength(raw.slice(raw.length - held));
  return { text: clean(raw.slice(0, raw.length - held)), used: whole - heldBytes };
}

/** The next offset at or after `at` where a character begins. */
export function characterStart(bytes: Uint8Array, at: number): number {
  for (let start = at; start < Math.min(bytes.length, at + 4); start += 1) {
    if (((bytes[start] ?? 0) & 0xc0) !== 0x80) return start;
  }
  return at;
}

let decoder: InstanceType<typeof TextDecoder> | undefined;

function decode(bytes: Uint8Array): string {
  decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
  return decoder.decode(bytes);
}

function clean(raw: string): string {
  const plain = raw.includes(ESC) ? raw.replace(sequences, "") : raw;
  const lines = plain.includes("\r") ? plain.replaceAll(/\r+\n/g, "\n").replaceAll("\r", "\n") : plain;
  return lines.replace(controls, picture);
}

/** BEL and the shift characters are dropped; other control characters become their visible symbols (␀ … ␡). */
function picture(char: string): string {
  const code = char.charCodeAt(0);
  if (code === 0x07 || code === 0x0e || code === 0x0f) return "";
  if (code === 0x7f) return "\u2421";
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
}

/** The number of bytes at the end that begin an incomplete character. */
function partialCharacter(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
