// Plugins are code inside the gateway: which load, and from where.
import { at, setKey, type Finding, type Ground } from "./finding.ts";
import { codeFolder } from "./hooks.ts";

export function checkPlugins(ground: Ground): Finding[] {
  const { plugins } = ground.loaded.config;
  if (plugins?.enabled === false) return [];
  const paths = plugins?.load?.paths ?? [];
  const installed = Object.keys(plugins?.installs ?? {});
  const bring = paths.length + installed.length;
  return [
    ...paths.flatMap((folder, index) => codeFolder(ground, `plugins.load.paths[${index}]`, folder, "plugins.writable")),
    ...(bring > 0 && plugins?.allow === undefined
      ? [
          {
            id: "plugins.unlisted",
            weight: "medium" as const,
            what: "plugins load without a list of those you chose (plugins.allow)",
            why: "whatever appears in their folders runs inside the gateway at the next start",
            where: at(ground, paths.length > 0 ? "plugins.load.paths" : "plugins.installs"),
            fix: setKey("plugins.allow", `'${JSON.stringify(installed)}'`),
          },
        ]
      : []),
  ];
}
