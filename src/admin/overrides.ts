// Overrides of config keys while the gateway runs: never written, shown in /status, dropped by a restart.
import { OpenClawError } from "../core/error.ts";
import { editText, type Edit } from "../config/edit.ts";
import { readingsOf } from "../config/change.ts";
import { describeIssue } from "../config/issue.ts";
import { loadConfig, type LoadedConfig } from "../config/load.ts";
import { formatPath, parsePath } from "../config/path.ts";
import { secretsIn } from "../config/redact.ts";
import type { Admin, AdminAnswer, Override } from "../tool/admin.ts";
import type { AdminDeps } from "./deps.ts";

export function createOverrides({ paths, env, settings, mask }: AdminDeps): Admin["overrides"] {
  let overrides: readonly Override[] = [];
  const overlay = (chosen: readonly Override[]) => (base: LoadedConfig) =>
    loadConfig({ paths, env, text: editText(base.raw, chosen.map(toEdit)) });

  const use = (chosen: readonly Override[]): void => {
    const result = overlay(chosen)(settings.loaded());
    if (!result.valid) {
      const issues = result.issues
        .slice(0, 5)
        .map((issue) => describeIssue(issue))
        .join("; ");
      throw new OpenClawError("config.invalid", `not applied, the config would not be valid: ${issues}`, {
        details: { issues: result.issues },
      });
    }
    mask.know(secretsIn(result.config, result.env));
    overrides = chosen;
    settings.overlayBy(chosen.length === 0 ? undefined : overlay(chosen));
  };
  const put = (override: Override): void => use([...overrides.filter(({ path }) => path !== override.path), override]);
  const answer = (text: string): AdminAnswer => ({ text, details: { overrides } });

  return {
    list: () => overrides,
    async set(written, text) {
      const path = formatPath(parsePath(written));
      const [first, second] = readingsOf(text);
      try {
        put({ path, value: first });
      } catch (error) {
        if (second === undefined || !(error instanceof OpenClawError)) throw error;
        put({ path, value: second });
      }
      return answer(`${path} is overridden until the gateway restarts. The config file is unchanged.`);
    },
    async unset(written) {
      const path = formatPath(parsePath(written));
      const isOverridden = overrides.some((one) => one.path === path);
      if (isOverridden) use(overrides.filter((one) => one.path !== path));
      else put({ path, removed: true });
      return answer(
        isOverridden ? `${path} has the value of the config again.` : `${path} is unset until the gateway restarts.`,
      );
    },
    async reset() {
      const count = overrides.length;
      use([]);
      return answer(
        count === 0
          ? "There were no overrides."
          : `${count} ${count === 1 ? "override" : "overrides"} removed. The config applies as written.`,
      );
    },
  };
}

function toEdit({ path, value, removed }: Override): Edit {
  const at = parsePath(path);
  return removed === true ? { path: at, remove: true } : { path: at, value };
}
