// Hooks that a person enabled but that do not run, rules of webhooks that cannot work: nobody notices what is silent.
import { errnoOf, OpenClawError } from "../../core/error.ts";
import { presetNames } from "../../gateway/webhook/presets.ts";
import { transformFile } from "../../gateway/webhook/transform.ts";
import { hooksHere } from "../hooks-here.ts";
import { ok, type Check, type Finding, type Patient } from "./check.ts";

export const hooks: Check = {
  name: "Hooks",
  needsConfig: true,
  look(patient) {
    const { io, loaded } = patient;
    const { internal } = loaded.config.hooks ?? {};
    const rows = hooksHere(io, loaded);
    const off = rows.filter(({ enabled, runs }) => enabled && !runs);
    const lost = Object.entries(internal?.entries ?? {}).flatMap(([name, entry]) =>
      entry.enabled === true && !rows.some((row) => row.name === name) ? [name] : [],
    );
    const found: Finding[] = [
      ...webhookFindings(patient),
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

function webhookFindings({ io, loaded }: Patient): Finding[] {
  const { enabled, mappings = [], presets = [] } = loaded.config.hooks ?? {};
  if (enabled !== true) return [];
  const strange = presets.filter((name) => !presetNames.includes(name));
  return [
    ...mappings.flatMap(({ transform, id }, index): Finding[] => {
      const why =
        transform?.module === undefined
          ? undefined
          : refusalOf(() => transformFile(transform.module ?? "", loaded.config, io.paths()));
      if (why === undefined) return [];
      return [
        {
          level: "warn",
          message: `webhook rule ${id ?? index} answers 500: ${why}`,
          hint: `hooks.mappings[${index}].transform`,
        },
      ];
    }),
    ...strange.map((name): Finding => ({
      level: "warn",
      message: `there are no ready-made webhook rules called ${name}; known: ${presetNames.join(", ")}`,
      hint: "openclaw config set hooks.presets",
    })),
  ];
}

function refusalOf(look: () => unknown): string | undefined {
  try {
    look();
    return undefined;
  } catch (error) {
    if (error instanceof OpenClawError || errnoOf(error) !== undefined) return (error as Error).message;
    throw error;
  }
}
