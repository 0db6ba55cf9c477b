// Settings put over the config for as long as the gateway runs: never written, shown in /status, gone with a restart.
import { OpenClawError } from "../../core/error.ts";
import type { Mask } from "../../base/mask.ts";
import { editText, type Edit } from "../../config/edit.ts";
import { describeIssue } from "../../config/issue.ts";
import { loadConfig, type LoadedConfig } from "../../config/load.ts";
import { formatPath, parsePath } from "../../config/path.ts";
import { secretsIn } from "../../config/redact.ts";
import type { Admin, AdminAnswer, Override } from "../../tool/admin.ts";
import { valuesOf, type EditContext } from "./edit-key.ts";

export function createOverrides({
  paths,
  env,
  settings,
  mask,
}: EditContext & { readonly mask: Mask }): Admin["overrides"] {
  let overrides: readonly Override[] = [];
  const laidOver = (chosen: readonly Override[]) => (base: LoadedConfig) =>
    loadConfig({ paths, env, text: editText(base.raw, chosen.map(toEdit)) });

  const use = (chosen: readonly Override[]): void => {
    const laid = laidOver(chosen)(settings.loaded());
    if (!laid.valid) {
      throw new OpenClawError(
        "config.invalid",
        `not put in force: ${laid.issues.slice(0, 5).map(describeIssue).join("; ")}`,
        {
          details: { issues: laid.issues },
        },
      );
    }
    mask.know(secretsIn(laid.config, laid.env));
    overrides = chosen;
    settings.overlayBy(chosen.length === 0 ? undefined : laidOver(chosen));
  };
  const put = (override: Override): void => use([...overrides.filter(({ path }) => path !== override.path), override]);
  const answer = (text: string): AdminAnswer => ({ text, details: { overrides } });

  return {
    list: () => overrides,
    async set(written, text) {
      const path = formatPath(parsePath(written));
      const [first, second] = valuesOf(text);
      try {
        put({ path, value: first });
      } catch (error) {
        if (second === undefined || !(error instanceof OpenClawError)) throw error;
        put({ path, value: second });
      }
      return answer(`${path} is overridden until the gateway restarts. The file is as it was.`);
    },
    async unset(written) {
      const path = formatPath(parsePath(written));
      const isOverridden = overrides.some((one) => one.path === path);
      if (isOverridden) use(overrides.filter((one) => one.path !== path));
      else put({ path, removed: true });
      return answer(
        isOverridden ? `${path} follows the config again.` : `${path} counts as unset until the gateway restarts.`,
      );
    },
    async reset() {
      const count = overrides.length;
      use([]);
      return answer(
        count === 0 ? "Nothing was overridden." : `${count} overrides taken back; the config is in force as written.`,
      );
    },
  };
}

function toEdit({ path, value, removed }: Override): Edit {
  const at = parsePath(path);
  return removed === true ? { path: at, remove: true } : { path: at, value };
}
