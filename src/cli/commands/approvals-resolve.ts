// `openclaw approvals resolve`: answers a pending request.
import { isRecord } from "../../core/record.ts";
import { withGateway } from "../client.ts";
import { defineCommand, UsageError } from "../command.ts";
import { oneLine, toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

const decisions = ["allow-once", "allow-always", "deny"];

export const command = defineCommand({
  details: "The first answer counts. Check the request first: openclaw approvals pending shows it completely.",
  arguments: [
    { name: "id", description: "The id, or its first eight characters." },
    { name: "decision", description: "allow-once, allow-always or deny." },
  ],
  options: wireOptions,
  examples: [{ line: "approvals resolve 6f1c0b7e deny", does: "it does not run" }],
  async run(io, { options, arguments: [id = "", decision = ""] }) {
    if (!decisions.includes(decision))
      throw new UsageError(`not a decision: ${oneLine(decision)}; must be one of ${decisions.join(", ")}`, [
        "approvals",
        "resolve",
      ]);
    await requireConfigUnless(options.url !== undefined, io);
    const answer = await withGateway(io, await targetOf(io, options), (client) =>
      client.call("exec.approval.resolve", { id, decision }),
    );
    const refused = isRecord(answer) && typeof answer["reason"] === "string" ? answer["reason"] : undefined;
    const words = refused === undefined ? decision : `blocked by the current rules: ${refused}`;
    io.print(io.json ? toJson(answer) : oneLine(`${id}: ${words}`));
    return refused === undefined ? 0 : 1;
  },
});
