// The checksum of a transcript entry, which detects corruption that is still well-formed text.
import { crc32 } from "node:zlib";

export interface Sealed {
  readonly sessionId: string;
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly body: string | null;
}

export function sealOf({ sessionId, seq, id, type, at, body }: Sealed): number {
  return crc32(body ?? "", crc32(`${sessionId}\n${seq}\n${id}\n${type}\n${at}\n${body === null ? 0 : 1}\n`));
}
