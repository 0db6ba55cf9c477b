// `openclaw approvals pending`: lists the requests that wait for approval, each complete.
import { systemClock } from "../../base/clock.ts";
import type { ApprovalRequested, ClosedApproval } from "../../protocol/approval.ts";
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { wholeNumber } from "../parse.ts";
import { formatDuration } from "../../base/duration.ts";
import { columns, oneLine, safe, table, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

interface Listed {
  readonly pending: readonly ApprovalRequested[];
  readonly recent?: readonly ClosedApproval[];
}

export const command = defineCommand({
  options: {
    recent: { type: "string", value: "number", description: "Also list this many decided requests, with who decided." },
    ...wireOptions,
  },
  examples: [
    { line: "approvals pending", does: "each with its command, folder and time left" },
    { line: "approvals pending --recent 20", does: "and the last 20 decisions" },
  ],
  async run(io, { options }) {
    const recent = wholeNumber("recent", options.recent, { min: 0, max: 500 });
    await requireConfigUnless(options.url !== undefined, io);
    const listed = await withGateway(io, await targetOf(io, options), (client) =>
      client.call("exec.approvals.pending", recent === undefined ? {} : { recent }),
    );
    io.print(io.json ? toJson(listed) : linesOf(listed, io).join("\n"));
    return 0;
  },
});

function linesOf({ pending, recent = [] }: Listed, io: Io): string[] {
  const waiting =
    pending.length === 0 ? ["No pending approvals."] : pending.flatMap((approval) => cardLines(approval, io));
  if (recent.length === 0) return waiting;
  return [...waiting, "", io.paint.strong("Decided"), ...table(recent, trailShape(), io)];
}

function cardLines({ id, card, expiresAtMs }: ApprovalRequested, io: Io): string[] {
  const rows = [...card.rows, ...(card.always === undefined ? [] : [{ label: "always", value: card.always }])];
  return [
    io.paint.strong(`${id}  ${oneLine(card.title)}, expires in ${formatDuration(expiresAtMs - systemClock.now())}`),
    ...safe(card.text)
      .split("\n")
      .map((line) => `  ${line}`),
    ...columns(
      rows.map(({ label, value }) => [oneLine(label), safe(value)]),
      { width: io.width, indent: "  " },
    ),
    `  openclaw approvals resolve ${id.slice(0, 8)} ${card.always === undefined ? "allow-once|deny" : "allow-once|allow-always|deny"}`,
  ];
}

type Decided = NonNullable<Listed["recent"]>[number];

function trailShape() {
  return [
    { title: "When", text: ({ closedAtMs = 0 }: Decided) => `${formatDuration(systemClock.now() - closedAtMs)} ago` },
    { title: "Id", text: ({ id }: Decided) => id.slice(0, 8) },
    { title: "Answer", text: ({ decision, state }: Decided) => decision ?? state },
    { title: "By", text: ({ answeredBy }: Decided) => answeredBy?.sender ?? answeredBy?.clientId ?? "-" },
    { title: "Agent", text: ({ agent }: Decided) => agent ?? "" },
    { title: "What", text: ({ request }: Decided) => request.command.slice(0, 80) },
    { title: "Note", text: ({ reason = "" }: Decided) => reason },
  ];
}
