// A waiting approval as a chat message: complete, fenced, with the commands that answer it.
import type { Approval } from "../approval/record.ts";
import { fenced } from "./fence.ts";

/** Undefined when it does not fit into one message: what cannot be shown whole is not to be answered there. */
export function approvalText(approval: Approval, now: number, maxChars = 3_500): string | undefined {
  const { id, card, expiresAtMs } = approval;
  const rows = card.rows.map(({ label, value }) => `${label}: ${value}`);
  const always = card.always === undefined ? [] : [`Always would cover: ${card.always}`];
  const seconds = Math.max(0, Math.ceil((expiresAtMs - now) / 1000));
  const answers = card.always === undefined ? "allow-once|deny" : "allow-once|allow-always|deny";
  const text = [
    `Approval ${shortId(approval)}: ${oneLine(card.title)}. Ends in ${seconds} s.`,
    // One fence around everything others could have written: nothing of it is Markdown, nothing is a mention or a link.
    fenced(unfenced([card.text, ...(rows.length + always.length === 0 ? [] : ["", ...rows, ...always])].join("\n"))),
    `/approve ${shortId(approval)} ${answers}`,
    ...(id.length > 8 ? [`(whole id: ${id})`] : []),
  ].join("\n");
  return text.length <= maxChars ? text : undefined;
}

/** Enough to answer by, as long as no other begins the same; that is refused when it is asked. */
function shortId({ id }: Approval): string {
  return id.slice(0, 8);
}

/** Some channels end a block at the first three backticks, however long the fence was; so there are none inside. */
function unfenced(text: string): string {
  return text.replaceAll(/`{3,}/g, (run) => "\\u{60}".repeat(run.length));
}

const oneLine = (text: string): string => text.replaceAll(/[\n`]/g, " ");
