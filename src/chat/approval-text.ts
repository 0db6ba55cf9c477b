// A waiting approval as a chat message: complete, fenced, with the commands that answer it.
import type { Approval } from "../approval/record.ts";
import { fenced } from "./fence.ts";

/** Undefined when it does not fit into one message, because an incomplete approval must not be answered. */
export function approvalText(approval: Approval, now: number, maxChars = 3_500): string | undefined {
  const { id, card, expiresAtMs } = approval;
  const rows = card.rows.map(({ label, value }) => `${label}: ${value}`);
  const always = card.always === undefined ? [] : [`Always would cover: ${card.always}`];
  const seconds = Math.max(0, Math.ceil((expiresAtMs - now) / 1000));
  const answers = card.always === undefined ? "allow-once|deny" : "allow-once|allow-always|deny";
  const text = [
    `Approval ${shortId(approval)}: ${oneLine(card.title)}. Expires in ${seconds} s.`,
    // One fence around all text that others could have written, so that it contains no Markdown, mention or link.
    fenced(unfenced([card.text, ...(rows.length + always.length === 0 ? [] : ["", ...rows, ...always])].join("\n"))),
    `/approve ${shortId(approval)} ${answers}`,
    ...(id.length > 8 ? [`(whole id: ${id})`] : []),
  ].join("\n");
  return text.length <= maxChars ? text : undefined;
}

/** Enough to answer an approval; the broker rejects an ambiguous beginning. */
function shortId({ id }: Approval): string {
  return id.slice(0, 8);
}

/** Some channels end a block at the first three backticks, whatever the fence, so they are replaced inside. */
function unfenced(text: string): string {
  return text.replaceAll(/`{3,}/g, (run) => "\\u{60}".repeat(run.length));
}

const oneLine = (text: string): string => text.replaceAll(/[\n`]/g, " ");
