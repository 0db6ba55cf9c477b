// Opens browser control: the browsers of this machine, of sandboxes and of nodes. The services load with the first request.
import type { Log } from "../base/log.ts";
import type { Mask } from "../base/mask.ts";
import type { Env, Paths } from "../base/paths.ts";
import type { Edit } from "../config/edit.ts";
import type { LiveSettings } from "../config/live-settings.ts";
import { secretsIn } from "../config/redact.ts";
import { planReload } from "../config/reload.ts";
import type { Config } from "../config/schema/index.ts";
import type { Guard } from "../media/guard/guard.ts";
import type { MediaStore } from "../media/store.ts";
import { browserHiddenPaths } from "../exec/guard/guarded-paths.ts";
import type { BrowserControl } from "../browser/control.ts";
import { createLazyBrowser, createLazySandboxBrowsers, type LazyBrowser } from "../browser/lazy-control.ts";
import { configuredPorts } from "../browser/profiles.ts";
import { createBrowserRouter } from "../node/browser-router.ts";
import type { OpenExec } from "./exec.ts";

export interface OpenBrowser {
  /** For tools and clients: chooses sandbox, host or node. */
  readonly browser: BrowserControl;
  /** The browsers of this machine only. */
  readonly hostBrowser: LazyBrowser;
}

interface BrowserParts {
  readonly paths: Paths;
  readonly env: Env;
  readonly log: Log;
  readonly mask: Mask;
  readonly settings: LiveSettings;
  readonly guard: Guard;
  readonly media: MediaStore;
  readonly commands: Pick<OpenExec, "sandboxes" | "nodes">;
}

export function openBrowser({ mask, settings, commands, ...parts }: BrowserParts): OpenBrowser {
  const { paths, env, media } = parts;
  const config = (): Config => settings.now().config;
  const shared = { ...parts, config, log: parts.log.child("browser") };
  const hostBrowser = createLazyBrowser({
    ...shared,
    editConfig: (edits) => editLiveConfig({ paths, env, settings, mask }, edits),
    ports: () => configuredPorts(env, config()),
    hiddenPaths: (userData) =>
      browserHiddenPaths({ paths, env, config: config(), files: settings.loaded().files }, userData),
  });
  const sandbox = createLazySandboxBrowsers({ ...shared, sandboxes: commands.sandboxes });
  const browser = createBrowserRouter({ paths, config, host: hostBrowser, sandbox, nodes: commands.nodes, media });
  return { browser, hostBrowser };
}

/** Writes the edits and applies them now, unless the file has other changes that need a restart: the watcher applies those. */
async function editLiveConfig(
  { paths, env, settings, mask }: Pick<BrowserParts, "paths" | "env" | "settings" | "mask">,
  edits: readonly Edit[],
): Promise<void> {
  const { editConfig } = await import("../config/change.ts");
  const { after } = editConfig({ paths, env }, () => edits);
  if (planReload(settings.loaded().config, after.config, "hybrid").restart.length > 0) return;
  settings.use(after);
  mask.know(secretsIn(after.config, after.env));
}
