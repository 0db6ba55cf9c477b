// Hooks that a person enabled but that do not run: nobody notices a script that is silent.
import { hooksHere } from "../hooks-here.ts";
import { ok, type Check, type Finding } from "./check.ts";

export const hooks: Check = {
  name: "Hooks",
  needsConfig: true,
  look({ io, loaded }) {
    const { internal } = loaded.config.hooks ?? {};
    const rows = hooksHere(io, loaded);
    const off = rows.filter(({ enabled, runs }) => enabled && !runs);
    const lost = Object.entries(internal?.entries ?? {}).flatMap(([name, entry]) =>
      entry.enabled === true && !rows.some((row) => row.name === name) ? [name] : [],
    );
    const found: Finding[] = [
      ...off.map(({ name, problem, missing }): Finding => ({
        level: "warn",
        message: `${name} does not run: ${problem ?? `missing: ${missing.join(", ")}`}`,
        hint: `openclaw hooks info ${name}`,
      })),
      ...lost.map((name): Finding => ({
        level: "warn",
        message: `${name} is enabled but nowhere to be found`,
        hint: `openclaw hooks disable ${name}`,
      })),
      ...((internal?.handlers?.length ?? 0) === 0
        ? []
        : [{ level: "warn", message: "hooks.internal.handlers is not run", hint: handlersHint } as const]),
    ];
    const running = rows.filter(({ runs }) => runs).length;
    return found.length === 0 ? [ok(running === 0 ? "none is enabled" : `${running} enabled, all of them run`)] : found;
  },
};

const handlersHint = "give each a folder with HOOK.md and handler.js, then: openclaw hooks enable <name>";
