// WebSocket text frames as bytes: encoded once, written to every socket that gets them.

/** One frame, in pieces that are written together; large pieces are shared, never copied. */
export type Frame = readonly Buffer[];

/** JSON that was serialized before, such as a large result that many clients request. */
export class PreparedJson<T = unknown> {
  readonly bytes: Buffer;
  /** Carries the type of the value for the compiler; never set. */
  declare readonly value?: T;
  constructor(value: T) {
    this.bytes = Buffer.from(JSON.stringify(value));
  }
}

const FINAL_TEXT = 0x81;
const MAX_HEADER = 10;

export function textFrame(text: string): Frame {
  const length = Buffer.byteLength(text);
  const headerLength = lengthOfHeader(length);
  const frame = Buffer.allocUnsafe(headerLength + length);
  writeHeader(frame, length);
  frame.write(text, headerLength);
  return [frame];
}

/** A frame around prepared JSON: `before` and `after` are the text on either side of it. */
export function frameAround(before: string, { bytes }: PreparedJson, after: string): Frame {
  const [start, end] = [Buffer.from(before), Buffer.from(after)];
  const length = start.length + bytes.length + end.length;
  const header = Buffer.alloc(lengthOfHeader(length));
  writeHeader(header, length);
  return [Buffer.concat([header, start]), bytes, end];
}

export function sizeOf(frame: Frame): number {
  let size = 0;
  for (const piece of frame) size += piece.length;
  return size;
}

function lengthOfHeader(length: number): number {
  if (length < 126) return 2;
  return length < 65_536 ? 4 : MAX_HEADER;
}

/** From server to client: final, not masked (RFC 6455, section 5.2). */
function writeHeader(target: Buffer, length: number): void {
  target[0] = FINAL_TEXT;
  if (length < 126) target[1] = length;
  else if (length < 65_536) {
    target[1] = 126;
    target.writeUInt16BE(length, 2);
  } else {
    target[1] = 127;
    target.writeBigUInt64BE(BigInt(length), 2);
  }
}
