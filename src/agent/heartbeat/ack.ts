// The all-clear of a heartbeat: a token at either end of the reply, alone or in simple markup. In the middle it is a word.

export const ACK = "HEARTBEAT_OK";

const mark = "(?:[*_`~]|</?[a-z]{1,10}>)*";
const atStart = new RegExp(`^\\s*${mark}${ACK}(?![A-Za-z0-9]|_[A-Za-z0-9])${mark}[.!]*\\s*`);
const atEnd = new RegExp(`${ACK}(?![A-Za-z0-9])${mark}[.!]*\\s*$`);
const openMark = new RegExp(`${mark}$`);

export interface Acked {
  readonly acked: boolean;
  /** What is left, without the tokens at its ends. */
  readonly rest: string;
}

export function splitAck(text: string): Acked {
  let rest = text;
  for (let cut = atStart.exec(rest); cut !== null; cut = atStart.exec(rest)) rest = rest.slice(cut[0].length);
  for (let at = ackAtEnd(rest); at !== -1; at = ackAtEnd(rest)) rest = rest.slice(0, at);
  return { acked: rest !== text, rest: rest === text ? text : rest.trim() };
}

/** Where a token at the end begins, with the marks in front of it; -1 without one. */
function ackAtEnd(text: string): number {
  const from = Math.max(0, text.lastIndexOf(ACK));
  const found = atEnd.exec(text.slice(from));
  if (found === null || found.index !== 0) return -1;
  const near = Math.max(0, from - 40);
  const marks = openMark.exec(text.slice(near, from))?.[0].length ?? 0;
  const start = from - marks;
  return /[A-Za-z0-9]$/.test(text.slice(Math.max(0, start - 1), start)) ? -1 : start;
}

/** How much at the front of a reply that is still being written is a token: nothing of it may be shown. */
export function ackedPrefix(text: string): number {
  let length = 0;
  for (let cut = atStart.exec(text); cut !== null; cut = atStart.exec(text.slice(length))) length += cut[0].length;
  return length;
}

/** Whether all of a reply so far may yet turn out to be a token and nothing else. */
export function mayBecomeAck(text: string): boolean {
  const words = text.slice(ackedPrefix(text)).trimStart();
  const bare = words.replace(/^[*_`~]*(?:<[a-z]{0,10}>?)?[*_`~]*/, "");
  return words.length <= 40 && (ACK.startsWith(bare) || (bare.startsWith(ACK) && isTrail(bare.slice(ACK.length))));
}

/** Characters at the end of a reply being written that may be the beginning of a token, or one in full. */
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
