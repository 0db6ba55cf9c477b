// Whether allowlisted commands can be kept from the gateway's own files on this machine.
import { ok, type Check } from "./check.ts";

export const guard: Check = {
  name: "Allowlist",
  needsConfig: true,
  async look({ io, loaded }) {
    const { guardProbe } = await import("../../exec/guard/probe.ts");
    const unguarded = await guardProbe(loaded, io.paths());
    if (unguarded === undefined) return [ok("listed commands run without access to the gateway's own files")];
    const { agents, reason, fix } = unguarded;
    return [
      {
        level: "warn",
        message: `listed commands of ${agents.join(", ")} wait for your approval: the gateway's own files cannot be hidden from them here (${reason})`,
        hint: fix,
      },
    ];
  },
};
