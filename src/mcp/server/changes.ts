// Tells one open stream what changed since the client last looked: tools, prompts, resources it subscribed to.
import { createHash } from "node:crypto";

import type { Catalog } from "../../tool/catalog.ts";
import type { McpRegistry, McpUser, ResourceProvider } from "./registry.ts";

export interface ChangeFilter {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly uris: readonly string[];
}

export interface ChangePorts {
  readonly catalog: Pick<Catalog, "offered" | "follow">;
  readonly followConfig: (listener: () => void) => () => void;
  readonly registry: McpRegistry | undefined;
  readonly resources: readonly ResourceProvider[];
}

/** Returns how to stop. `user` is asked again at each change, because rights may have changed too. */
export async function followChanges(
  filter: ChangeFilter,
  user: () => Promise<McpUser>,
  notify: (method: string, params: object) => void,
  { catalog, followConfig, registry, resources }: ChangePorts,
): Promise<() => void> {
  const stops: (() => void)[] = [];
  const first = await user();
  if (filter.tools) {
    const digest = ({ subject }: McpUser): string =>
      createHash("sha256")
        .update(JSON.stringify(catalog.offered(subject)))
        .digest("base64");
    let seen = digest(first);
    const look = (): void =>
      void user().then(
        (now) => {
          const next = digest(now);
          if (next !== seen) notify("notifications/tools/list_changed", {});
          seen = next;
        },
        // The agent was removed from the config: there is no list any more, and the next request reports it.
        () => {},
      );
    stops.push(followConfig(look), catalog.follow(look));
  }
  if (filter.prompts && registry !== undefined)
    stops.push(registry.onPromptsChanged(() => notify("notifications/prompts/list_changed", {})));
  for (const uri of filter.uris) {
    const stop = watchResource(uri, first, () => notify("notifications/resources/updated", { uri }), resources);
    if (stop !== undefined) stops.push(stop);
  }
  return () => {
    for (const stop of stops.splice(0)) stop();
  };
}

export function watchResource(
  uri: string,
  user: McpUser,
  changed: () => void,
  resources: readonly ResourceProvider[],
): (() => void) | undefined {
  for (const provider of resources) {
    const stop = provider.watch?.(uri, user, changed);
    if (stop !== undefined) return stop;
  }
  return undefined;
}
