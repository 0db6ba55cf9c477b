// `openclaw hooks check`: checks that every enabled hook runs.
import { defineCommand } from "../command.ts";
import { hooksHere, isEligible } from "../hooks-here.ts";
import { counted, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  examples: [{ line: "hooks check", does: "exit code 1 when an enabled hook does not run" }],
  exits: "0 every enabled hook runs, 1 an enabled hook does not run, 2 wrong usage",
  async run(io) {
    const loaded = await requireConfig(io);
    const rows = hooksHere(io, loaded);
    const entries = loaded.config.hooks?.internal?.entries ?? {};
    const lost = Object.keys(entries).filter(
      (name) => entries[name]?.enabled === true && !rows.some((row) => row.name === name),
    );
    const broken = [
      ...rows.flatMap(({ name, enabled, runs, problem, missing }) =>
        enabled && !runs ? [{ name, why: problem ?? `missing: ${missing.join(", ")}` }] : [],
      ),
      ...lost.map((name) => ({ name, why: "it is enabled but was not found" })),
    ];
    const older = loaded.config.hooks?.internal?.handlers?.length ?? 0;
    const counts = {
      total: rows.length,
      eligible: rows.filter(isEligible).length,
      running: rows.filter(({ runs }) => runs).length,
    };
    if (io.json) io.print(toJson({ ...counts, broken, olderHandlers: older }));
    else {
      io.print(`${counted(counts.total, "hook")}, ${counts.eligible} eligible, ${counts.running} running`);
      for (const { name, why } of broken) io.print(`  ${io.paint.warn(name)}: ${why}`);
      if (older > 0)
        io.say(
          "hooks.internal.handlers has no effect: put each handler into its own folder with a HOOK.md, then run openclaw hooks enable",
        );
    }
    return broken.length === 0 ? 0 : 1;
  },
});
