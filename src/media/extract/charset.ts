// Decodes the bytes of a page: byte order mark, then the header, then the page's own declaration, then UTF-8 or Windows-1252.

const DECLARATION_BYTES = 4096;

export function decodeText(bytes: Uint8Array, contentType: string): string {
  const marked = markOf(bytes);
  const name = marked ?? charsetIn(contentType) ?? declared(bytes) ?? guess(bytes);
  return new TextDecoder(name).decode(bytes).toWellFormed();
}

function markOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : undefined;
}

function charsetIn(text: string): string | undefined {
  return known(/charset\s*=\s*["']?([\w.:-]+)/i.exec(text)?.[1]);
}

function declared(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, DECLARATION_BYTES)).toString("latin1");
  const xml = /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)/i.exec(head)?.[1];
  const meta = /<meta\b[^>]*\bcharset\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1];
  const name = known(xml ?? meta);
  // A declaration that could be read as ASCII is not in UTF-16, whatever it says.
  return name?.startsWith("utf-16") === true ? "utf-8" : name;
}

function guess(bytes: Uint8Array): string {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return "utf-8";
  } catch (error) {
    // Only malformed UTF-8 throws here; old pages without a declaration are mostly in Windows-1252.
    if (error instanceof TypeError) return "windows-1252";
    throw error;
  }
}

function known(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  try {
    return new TextDecoder(name).encoding;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
