// The HEARTBEAT_OK token at either end of a reply, alone or in simple markup. In the middle it is plain text.

export const ACK = "HEARTBEAT_OK";

const mark = "(?:[*_`~]|</?[a-z]{1,10}>)*";
const atStart = new RegExp(`^\\s*${mark}${ACK}(?![A-Za-z0-9]|_[A-Za-z0-9])${mark}[.!]*\\s*`);
const atEnd = new RegExp(`${ACK}(?![A-Za-z0-9])${mark}[.!]*\\s*$`);
const openMark = new RegExp(`${mark}$`);

export interface Acked {
  readonly acked: boolean;
  /** The reply without tokens at its ends. */
  readonly rest: string;
}

export function splitAck(text: string): Acked {
  let rest = text;
  for (let cut = atStart.exec(rest); cut !== null; cut = atStart.exec(rest)) rest = rest.slice(cut[0].length);
  for (let at = ackAtEnd(rest); at !== -1; at = ackAtEnd(rest)) rest = rest.slice(0, at);
  return { acked: rest !== text, rest: rest === text ? text : rest.trim() };
}

/** Where a token at the end begins, including markup before it; -1 without one. */
function ackAtEnd(text: string): number {
  const from = Math.max(0, text.lastIndexOf(ACK));
  const found = atEnd.exec(text.slice(from));
  if (found === null || found.index !== 0) return -1;
  const near = Math.max(0, from - 40);
  const marks = openMark.exec(text.slice(near, from))?.[0].length ?? 0;
  const start = from - marks;
  return /[A-Za-z0-9]$/.test(text.slice(Math.max(0, start - 1), start)) ? -1 : start;
}

/** How many characters at the start of a streamed reply are a token and must not be shown. */
export function ackedPrefix(text: string): number {
  let length = 0;
  for (let cut = atStart.exec(text); cut !== null; cut = atStart.exec(text.slice(length))) length += cut[0].length;
  return length;
}

/** Whether a streamed reply could still become only a token. */
export function mayBecomeAck(text: string): boolean {
  const words = text.slice(ackedPrefix(text)).trimStart();
  const bare = words.replace(/^[*_`~]*(?:<[a-z]{0,10}>?)?[*_`~]*/, "");
  return words.length <= 40 && (ACK.startsWith(bare) || (bare.startsWith(ACK) && isTrail(bare.slice(ACK.length))));
}

/** Characters at the end of a streamed reply that may begin a token. */
export function ackedTail(text: string): number {
  const near = text.slice(-48);
  for (let at = near.indexOf("H"); at !== -1; at = near.indexOf("H", at + 1)) {
    const word = near.slice(at);
    if (!ACK.startsWith(word) && !(word.startsWith(ACK) && isTrail(word.slice(ACK.length)))) continue;
    const marks = openMark.exec(near.slice(0, at))?.[0].length ?? 0;
    if (!/[A-Za-z0-9]$/.test(near.slice(0, at - marks))) return word.length + marks;
  }
  return 0;
}

function isTrail(text: string): boolean {
  return /^(?:[*_`~.!\s]|<\/?[a-z]{0,10}>?)*$/.test(text);
}
