// `openclaw memory extra remove`: takes the local embedding model away again.
import { defineCommand } from "../command.ts";
import { extrasHere } from "../memory-extras.ts";
import { toJson } from "../print.ts";

export const command = defineCommand({
  details: "Notes are found by words then, or by the meaning another provider sees in them.",
  examples: [{ line: "memory extra remove", does: "free the disk" }],
  async run(io) {
    const { removeExtra } = await import("../../memory/embed/extra-install.ts");
    const removed = removeExtra(await extrasHere(io));
    io.print(
      io.json ? toJson({ ok: true, removed }) : removed ? "the local model is gone" : "there was no local model",
    );
    return 0;
  },
});
