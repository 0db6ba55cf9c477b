// The card a person decides by: complete and with every character visible, or the request is refused.
import { OpenClawError } from "../core/error.ts";
import { spelledOut } from "../core/visible.ts";
import type { ApprovalCard, ApprovalRequest } from "../protocol/approval.ts";

/** A person must be able to read all of a card. */
const MAX_CARD_CHARS = 16_000;

export function visibleCard({ title, text, rows, always }: ApprovalCard): ApprovalCard {
  const card: ApprovalCard = {
    title: spelledOut(title),
    text: spelledOut(text),
    rows: rows.map(({ label, value }) => ({ label: spelledOut(label), value: spelledOut(value) })),
    ...(always === undefined ? {} : { always: spelledOut(always) }),
  };
  requireReadable([
    card.title,
    card.text,
    card.always ?? "",
    ...card.rows.flatMap(({ label, value }) => [label, value]),
  ]);
  return card;
}

/** The recorded fields, for clients that show those instead of the card. */
export function visibleFields(fields: ApprovalRequest): ApprovalRequest {
  const shown = (text: string | null): string | null => (text === null ? null : spelledOut(text));
  const visible: ApprovalRequest = {
    command: spelledOut(fields.command),
    cwd: shown(fields.cwd),
    host: shown(fields.host),
    security: shown(fields.security),
    ask: shown(fields.ask),
    agentId: shown(fields.agentId),
    resolvedPath: shown(fields.resolvedPath),
    sessionKey: shown(fields.sessionKey),
  };
  requireReadable(Object.values(visible).map((text: string | null) => text ?? ""));
  return visible;
}

function requireReadable(texts: readonly string[]): void {
  const chars = texts.reduce((sum, { length }) => sum + length, 0);
  if (chars <= MAX_CARD_CHARS) return;
  throw new OpenClawError(
    "approval.too-long",
    `cannot ask for approval: the card would have ${chars} characters, too many to read (at most ${MAX_CARD_CHARS})`,
    { hint: "write the commands to a script file in the workspace and run that" },
  );
}

/** A request as a client sends it. */
export interface ClientRequest {
  readonly command: string;
  readonly cwd?: string | null;
  readonly host?: string | null;
  readonly security?: string | null;
  readonly ask?: string | null;
  readonly agentId?: string | null;
  readonly resolvedPath?: string | null;
  readonly sessionKey?: string | null;
}

/** Names the client, because the gateway checked none of it. */
export function clientCard(asked: ClientRequest, client: string): ApprovalCard {
  const { command, cwd, host, security, ask, agentId, resolvedPath, sessionKey } = asked;
  const rows: readonly (readonly [string, string | null | undefined])[] = [
    ["asked by", `${client} (not checked by the gateway)`],
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
