// Whether the guard works here: allowlisted commands run without access to the gateway's own files.
import { ok, type Check } from "./check.ts";

export const guard: Check = {
  name: "Allowlist",
  needsConfig: true,
  async run({ paths, loaded }) {
    const { guardProbe } = await import("../../exec/guard/probe.ts");
    const unguarded = await guardProbe(loaded, paths);
    if (unguarded === undefined) return [ok("allowlisted commands run without access to the gateway's own files")];
    const { agents, reason, fix } = unguarded;
    return [
      {
        level: "warn",
        message: `allowlisted commands of ${agents.join(", ")} wait for your approval: the gateway's own files cannot be hidden from them here (${reason})`,
        hint: fix,
      },
    ];
  },
};
