// `openclaw memory extra remove`: removes the local embedding model.
import { defineCommand } from "../command.ts";
import { extrasFolderHere } from "../memory-here.ts";
import { toJson } from "../print.ts";

export const command = defineCommand({
  details: "Search then uses keywords, or another embedding provider if one is configured.",
  examples: [{ line: "memory extra remove", does: "free disk space" }],
  async run(io) {
    const { removeExtra } = await import("../../memory/embed/extra-install.ts");
    const removed = removeExtra(await extrasFolderHere(io));
    io.print(
      io.json ? toJson({ ok: true, removed }) : removed ? "removed the local model" : "no local model is installed",
    );
    return 0;
  },
});
