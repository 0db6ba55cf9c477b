// `openclaw sandbox list`: lists the sandboxes, their sessions, and whether they match the current config.
import { systemClock } from "../../base/clock.ts";
import type { ListedSandbox } from "../../exec/sandboxes.ts";
import { withSandboxes } from "../with-sandboxes.ts";
import { defineCommand } from "../command.ts";
import { formatDuration } from "../../base/duration.ts";
import { table, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  options: {
    browser: { type: "boolean", description: "Only sandboxes with a browser." },
  },
  examples: [
    { line: "sandbox list", does: "all sandboxes" },
    { line: "sandbox list --json", does: "the same as JSON" },
  ],
  async run(io, { options }) {
    const loaded = await requireConfig(io);
    const all = await withSandboxes(io, loaded, (sandboxes) => sandboxes.list());
    const sandboxes = all.filter(({ hasBrowser }) => hasBrowser || options.browser !== true);
    if (io.json) io.print(toJson({ sandboxes: sandboxes.map(toRow) }));
    else if (sandboxes.length === 0) io.print("No sandboxes yet; the first sandboxed command builds one.");
    else io.print(table(sandboxes, columns, io).join("\n"));
    return 0;
  },
});

const columns = [
  { title: "NAME", text: ({ name }: ListedSandbox) => name },
  { title: "KIND", text: ({ backend, image }: ListedSandbox) => (image === "" ? backend : `${backend} ${image}`) },
  { title: "STATE", text: (sandbox: ListedSandbox) => stateOf(sandbox) },
  { title: "SETTINGS", text: ({ matchesConfig }: ListedSandbox) => (matchesConfig ? "current" : "outdated") },
  { title: "AGE", text: ({ createdAt }: ListedSandbox) => formatDuration(systemClock.now() - createdAt) },
  { title: "IDLE", text: ({ lastUsedAt }: ListedSandbox) => formatDuration(systemClock.now() - lastUsedAt) },
  { title: "FOR", text: ({ scopeKey }: ListedSandbox) => scopeKey },
];

/** Bubblewrap keeps no process between two commands. */
function stateOf({ backend, running }: ListedSandbox): string {
  if (backend === "bubblewrap") return "ready";
  return running ? "running" : "stopped";
}

function toRow({
  name,
  backend,
  image,
  running,
  matchesConfig,
  createdAt,
  lastUsedAt,
  scopeKey,
  agent,
  session,
  workspace,
  hasBrowser,
}: ListedSandbox): unknown {
  const now = systemClock.now();
  return {
    name,
    backend,
    image: image === "" ? null : image,
    running,
    matchesConfig,
    ageMs: Math.max(0, now - createdAt),
    idleMs: Math.max(0, Math.round(now - lastUsedAt)),
    scope: scopeKey,
    agentId: agent,
    sessionKey: session,
    workspace,
    browser: hasBrowser,
  };
}
