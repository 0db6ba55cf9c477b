// Checks plugins, which run inside the gateway: which ones load, and from which folders.
import { at, setKey, type Finding, type AuditContext } from "./finding.ts";
import { codeFolder } from "./hooks.ts";

export function checkPlugins(context: AuditContext): Finding[] {
  const { plugins } = context.loaded.config;
  if (plugins?.enabled === false) return [];
  const paths = plugins?.load?.paths ?? [];
  const installed = Object.keys(plugins?.installs ?? {});
  const bring = paths.length + installed.length;
  return [
    ...paths.flatMap((folder, index) =>
      codeFolder(context, `plugins.load.paths[${index}]`, folder, "plugins.writable"),
    ),
    ...(bring > 0 && plugins?.allow === undefined
      ? [
          {
            id: "plugins.unlisted",
            weight: "medium" as const,
            what: "plugins load without a list of allowed ones (plugins.allow)",
            why: "any plugin that appears in their folders runs inside the gateway at the next start",
            where: at(context, paths.length > 0 ? "plugins.load.paths" : "plugins.installs"),
            fix: setKey("plugins.allow", `'${JSON.stringify(installed)}'`),
          },
        ]
      : []),
  ];
}
