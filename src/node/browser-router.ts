// The browser of the tool and of `browser.request`: every request goes to the place that browser-target.ts chooses.
import type { Paths } from "../base/paths.ts";
import type { BrowserControl } from "../browser/control.ts";
import { browserDisabled } from "../browser/errors.ts";
import {
  profileOf,
  requireAllowedProfiles,
  withoutDeniedProfiles,
  withProfileInQuery,
} from "../browser/profile-policy.ts";
import type { SandboxBrowsers } from "../browser/sandbox/sandbox-browsers.ts";
import type { Config } from "../config/schema/index.ts";
import { sandboxSettings } from "../exec/sandbox-settings.ts";
import { requestOnNode, withFlatStep, type NodeBrowserDeps } from "./browser-node.ts";
import { chooseTarget, concernsNodes } from "./browser-target.ts";

export interface BrowserRouterDeps extends NodeBrowserDeps {
  readonly paths: Paths;
  readonly config: () => Config;
  readonly host: BrowserControl;
  readonly sandbox: SandboxBrowsers;
}

export function createBrowserRouter(deps: BrowserRouterDeps): BrowserControl {
  const { paths, config, host, sandbox, nodes } = deps;
  return {
    async request(given, caller) {
      const { target, node, ...request } = withProfileInQuery(given);
      const { session } = caller;
      const rules = session?.sandboxed === true ? sandboxSettings(config(), session.agent, paths).browser : undefined;
      const wanted = { target, node, profile: profileOf(request) };
      const place = chooseTarget(wanted, {
        config: config(),
        nodes: concernsNodes(wanted, config(), rules !== undefined) ? await nodes.list() : [],
        sandbox: rules,
      });
      if (place.target === "host") return host.request(request, caller);
      if (place.target === "sandbox") {
        if (session === undefined || rules === undefined) throw new Error("only a sandboxed session has a sandbox");
        return sandbox.request(session, rules, request, caller);
      }
      if (config().browser?.enabled === false) throw browserDisabled();
      // The node does not know the agent, so its limit on profiles is checked here.
      const sent = withProfileInQuery(withFlatStep(request));
      requireAllowedProfiles(sent, caller, undefined);
      return withoutDeniedProfiles(sent, await requestOnNode(deps, place.node, sent, caller), caller);
    },
    async close() {
      await sandbox.close();
      await host.close();
    },
  };
}
