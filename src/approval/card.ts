// The card a person decides by: shown whole with nothing hidden in it, or the request is refused.
import { OpenClawError } from "../core/error.ts";
import { spelledOut } from "../core/visible.ts";
import type { ApprovalCard, ApprovalRequest } from "../protocol/approval.ts";

/** More than this nobody reads to the end; and what is not read is not allowed. */
const MAX_CARD_CHARS = 16_000;

export function shownWhole({ title, text, rows, always }: ApprovalCard): ApprovalCard {
  const card: ApprovalCard = {
    title: spelledOut(title),
    text: spelledOut(text),
    rows: rows.map(({ label, value }) => ({ label: spelledOut(label), value: spelledOut(value) })),
    ...(always === undefined ? {} : { always: spelledOut(always) }),
  };
  refuseLong([card.title, card.text, card.always ?? "", ...card.rows.flatMap(({ label, value }) => [label, value])]);
  return card;
}

/** The recorded fields, for clients that draw those and not the card. */
export function fieldsWhole(fields: ApprovalRequest): ApprovalRequest {
  const shown = (text: string | null): string | null => (text === null ? null : spelledOut(text));
  const whole: ApprovalRequest = {
    command: spelledOut(fields.command),
    cwd: shown(fields.cwd),
    host: shown(fields.host),
    security: shown(fields.security),
    ask: shown(fields.ask),
    agentId: shown(fields.agentId),
    resolvedPath: shown(fields.resolvedPath),
    sessionKey: shown(fields.sessionKey),
  };
  refuseLong(Object.values(whole).map((text: string | null) => text ?? ""));
  return whole;
}

function refuseLong(texts: readonly string[]): void {
  const chars = texts.reduce((sum, { length }) => sum + length, 0);
  if (chars <= MAX_CARD_CHARS) return;
  throw new OpenClawError(
    "approval.too-long",
    `cannot be asked: ${chars} characters are too many to show whole (at most ${MAX_CARD_CHARS})`,
    { hint: "put the work into a script file in the workspace and run that" },
  );
}

/** A request as a client words it. */
export interface WireAsk {
  readonly command: string;
  readonly cwd?: string | null;
  readonly host?: string | null;
  readonly security?: string | null;
  readonly ask?: string | null;
  readonly agentId?: string | null;
  readonly resolvedPath?: string | null;
  readonly sessionKey?: string | null;
}

/** Says who asks: none of it was checked by the gateway. */
export function wireCard(asked: WireAsk, client: string): ApprovalCard {
  const { command, cwd, host, security, ask, agentId, resolvedPath, sessionKey } = asked;
  const rows: readonly (readonly [string, string | null | undefined])[] = [
    ["asked by", `${client} (its own words)`],
    ["program", resolvedPath],
    ["folder", cwd],
    ["host", host],
    ["agent", agentId],
    ["session", sessionKey],
    ["rules", [security, ask].filter(Boolean).join(", ask ")],
  ];
  return {
    title: "Run a command",
    text: command,
    rows: rows.flatMap(([label, value]) => (value ? [{ label, value }] : [])),
  };
}
