// Enabled hooks that do not run, and webhook mappings that cannot work: both fail silently.
import { errnoOf, OpenClawError } from "../../core/error.ts";
import { presetNames } from "../../gateway/webhook/presets.ts";
import { transformFile } from "../../gateway/webhook/transform.ts";
import { bundledCards } from "../../plugin/hook/bundled/cards.ts";
import { discoverHooks } from "../../plugin/hook/discover.ts";
import { ok, type Check, type Finding, type CheckContext } from "./check.ts";

export const hooks: Check = {
  name: "Hooks",
  needsConfig: true,
  run(context) {
    const { paths, env, loaded } = context;
    const { internal } = loaded.config.hooks ?? {};
    const rows = discoverHooks({ config: loaded.config, paths, env, bundled: bundledCards });
    const off = rows.filter(({ enabled, runs }) => enabled && !runs);
    const lost = Object.entries(internal?.entries ?? {}).flatMap(([name, entry]) =>
      entry.enabled === true && !rows.some((row) => row.name === name) ? [name] : [],
    );
    const found: Finding[] = [
      ...webhookFindings(context),
      ...off.map(({ name, problem, missing }): Finding => ({
        level: "warn",
        message: `${name} does not run: ${problem ?? `missing: ${missing.join(", ")}`}`,
        hint: `openclaw hooks info ${name}`,
      })),
      ...lost.map((name): Finding => ({
        level: "warn",
        message: `${name} is enabled, but there is no such hook`,
        hint: `openclaw hooks disable ${name}`,
      })),
      ...((internal?.handlers?.length ?? 0) === 0
        ? []
        : [
            {
              level: "warn",
              message: "hooks.internal.handlers is set, but this version does not run it",
              hint: handlersHint,
            } as const,
          ]),
    ];
    const running = rows.filter(({ runs }) => runs).length;
    return found.length === 0 ? [ok(running === 0 ? "none enabled" : `${running} enabled, all running`)] : found;
  },
};

const handlersHint = "give each a folder with HOOK.md and handler.js, then: openclaw hooks enable <name>";

function webhookFindings({ paths, loaded }: CheckContext): Finding[] {
  const { enabled, mappings = [], presets = [] } = loaded.config.hooks ?? {};
  if (enabled !== true) return [];
  const unknown = presets.filter((name) => !presetNames.includes(name));
  return [
    ...mappings.flatMap(({ transform, id }, index): Finding[] => {
      const why =
        transform?.module === undefined
          ? undefined
          : errorOf(() => transformFile(transform.module ?? "", loaded.config, paths));
      if (why === undefined) return [];
      return [
        {
          level: "warn",
          message: `webhook mapping ${id ?? index} answers 500: ${why}`,
          hint: `hooks.mappings[${index}].transform`,
        },
      ];
    }),
    ...unknown.map((name): Finding => ({
      level: "warn",
      message: `unknown webhook preset ${name}; known: ${presetNames.join(", ")}`,
      hint: "openclaw config set hooks.presets",
    })),
  ];
}

function errorOf(load: () => unknown): string | undefined {
  try {
    load();
    return undefined;
  } catch (error) {
    if (error instanceof OpenClawError || errnoOf(error) !== undefined) return (error as Error).message;
    throw error;
  }
}
