// `openclaw memory status`: shows what is indexed for each agent, by which provider, and whether it is up to date.
import { requestedProvider } from "../../memory/settings.ts";
import type { MemoryStatus } from "../../memory/memory.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { agentsFor, withMemory } from "../memory-here.ts";
import { columns, counted, safe, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";
import { wireOptions } from "../target.ts";

export const command = defineCommand({
  details: "Asks the running gateway; if no gateway runs on this machine, reads the index directly.",
  options: {
    agent: { type: "string", value: "id", description: "Only this agent." },
    deep: { type: "boolean", description: "Also check the index and test the embeddings." },
    index: { type: "boolean", description: "Update the index first." },
    verbose: { type: "boolean", description: "Also show skipped files with the reason." },
    ...wireOptions,
  },
  examples: [
    { line: "memory status", does: "files, chunks, vectors" },
    { line: "memory status --deep --index --json", does: "updated, checked, as JSON" },
  ],
  async run(io, { options }) {
    const { agent, deep = false, index = false, verbose = false, ...wire } = options;
    const agents = await agentsFor(io, agent);
    const rows = await withMemory(io, wire, async (memory) => {
      const found: MemoryStatus[] = [];
      for (const id of agents) {
        if (index) await memory.index(id, false);
        found.push(await memory.status(id, deep));
      }
      return found;
    });
    const { config } = await requireConfig(io);
    if (io.json) io.print(toJson(rows.map((row) => toRecord(row, requestedProvider(config, row.agent)))));
    else io.print(rows.flatMap((row) => linesOf(io, row, verbose)).join("\n"));
    return 0;
  },
});

/** The published fields first, then ours. */
function toRecord(row: MemoryStatus, wanted: string): object {
  const { agent, workspace, file, bySource, vectors, deep, skipped, ...rest } = row;
  const issues = skipped.map(({ path, why }) => `${path}: ${why}`);
  return {
    agentId: agent,
    status: {
      ...rest,
      workspaceDir: workspace,
      dbPath: file,
      requestedProvider: wanted,
      sourceCounts: bySource,
      fts: { enabled: true, available: true },
      vector: { ...vectors, available: vectors.enabled },
    },
    ...(deep === undefined ? {} : { embeddingProbe: deep.embeddings, sound: deep.sound }),
    scan: {
      totalFiles: row.files,
      issues,
      sources: bySource.map(({ source, files }) => ({ source, totalFiles: files })),
    },
  };
}

function linesOf(io: Io, row: MemoryStatus, verbose: boolean): string[] {
  const { vectors } = row;
  const pairs: (readonly [string, string])[] = [
    [
      "Indexed",
      `${counted(row.files, "file")}, ${counted(row.chunks, "chunk")}, ${Math.round(row.bytes / 1024)} kB${freshness(row)}`,
    ],
    ["Search", foundBy(row)],
    ["Sources", [...row.sources, ...row.extraPaths].join(", ")],
    ["Workspace", row.workspace],
    ["Index", row.file],
    ...(vectors.enabled
      ? ([["Vectors", `${vectors.ready} ready, ${vectors.missing} missing (${vectors.engine ?? "?"})`]] as const)
      : []),
    ...(row.deep === undefined ? [] : ([["Checked", checked(row.deep)]] as const)),
    ...(row.skipped.length === 0
      ? []
      : ([
          [
            "Skipped",
            verbose
              ? row.skipped.map(({ path, why }) => `${path} ${why}`).join("\n")
              : `${counted(row.skipped.length, "file")} (--verbose)`,
          ],
        ] as const)),
    ...row.notes.map((note) => ["Note", note] as const),
  ];
  const title = row.enabled
    ? `Memory of ${row.agent}`
    : `Memory of ${row.agent}: off (${row.reason ?? ""}; ${row.fix ?? ""})`;
  return [
    title,
    ...columns(
      pairs.map(([name, text]) => [name, safe(text)] as const),
      { width: io.width, indent: "  " },
    ),
  ];
}

function freshness({ indexing, dirty, watching }: MemoryStatus): string {
  if (indexing && !dirty) return ", indexing now";
  if (dirty) return ", not indexed yet";
  return watching ? ", up to date and watched" : ", up to date";
}

function foundBy({ provider, model, fallback }: MemoryStatus): string {
  if (provider === "none") return "keywords only (no embeddings)";
  const instead = fallback === undefined ? "" : `; fallback for ${fallback.from}: ${fallback.reason}`;
  return `keywords and meaning: ${provider}/${model ?? "?"}${instead}`;
}

function checked({ sound, embeddings }: NonNullable<MemoryStatus["deep"]>): string {
  const probe = embeddings.ok ? "embeddings work" : `no embeddings: ${embeddings.error ?? "?"}`;
  return `${sound ? "the index is intact" : "the index was damaged and has been rebuilt"}; ${probe}`;
}
