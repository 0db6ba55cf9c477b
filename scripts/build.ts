// Builds what is published: dist/ with split, minified chunks of src/, and dist/ui with the page.
import { cpSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown, type InputOptions, type OutputOptions } from "rolldown";
import { build as buildPage } from "vite";

import { root } from "./project.mjs";
import { keepChunks } from "./keep-chunks.ts";

const dist = join(root, "dist");
const next = join(root, "dist.next");
const started = new Date();
/**
 * Each file costs about 0.4 ms at start, so modules that load together share a file. A module goes into the first group
 * that matches it.
 */
const chunks = [
  { name: "light", priority: 3, test: /src\/(?:bin|cli\/commands\/(?:status|config-get))\.ts$/ },
  { name: "schema", priority: 2, test: /src\/config\/load\.ts$/ },
  { name: "gateway", priority: 1, test: /src\/lifecycle\/run\.ts$/ },
];

/** Code of worker threads and child processes: one self-contained file each. */
const threads = [
  ["memory-worker.js", "src/memory/worker.ts"],
  ["exec-launcher.js", "src/exec/launcher-process.ts"],
  ["browser-bridge.js", "src/browser/sandbox/bridge-process.ts"],
  ["embed-worker.js", "src/memory/embed/local-worker.ts"],
  ["store-check.js", "src/store/check-worker.ts"],
  ["fit-image-worker.js", "src/media/fit-image-worker.ts"],
  ["page-worker.js", "src/media/extract/page-worker.ts"],
  ["pdf-worker.js", "src/media/extract/pdf-worker.ts"],
] as const;

const shared: InputOptions = {
  platform: "node",
  // Both load files beside their own modules.
  external: [/^node:/, "playwright-core", "sharp"],
  logLevel: "warn",
  // A module can be loaded eagerly by one command and lazily by another; that is intended.
  checks: { ineffectiveDynamicImport: false },
};
const output: OutputOptions = {
  dir: next,
  format: "esm",
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  chunkFileNames: "[name]-[hash].js",
};

rmSync(next, { recursive: true, force: true });
mkdirSync(next, { recursive: true });
await Promise.all([buildSources(), ...threads.map(([name, source]) => buildThread(name, source)), buildUi()]);
writeFileSync(join(next, "built"), started.toISOString());
keepChunks(dist, next, process.env["npm_lifecycle_event"] === "prepack");
rmSync(dist, { recursive: true, force: true });
cpSync(next, dist, { recursive: true });
// A source saved during the build is newer than the build.
utimesSync(join(dist, "built"), started, started);
rmSync(next, { recursive: true, force: true });

async function buildSources(): Promise<void> {
  const bundle = await rolldown({ input: { bin: join(root, "src", "bin.ts") }, ...shared });
  await bundle.write({ ...output, codeSplitting: { groups: chunks } });
  await bundle.close();
}

async function buildThread(name: string, source: string): Promise<void> {
  const bundle = await rolldown({ input: join(root, source), ...shared });
  await bundle.write({
    file: join(next, name),
    format: "esm",
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    codeSplitting: false,
  });
  await bundle.close();
}

async function buildUi(): Promise<void> {
  const source = join(root, "ui");
  if (!existsSync(join(source, "index.html"))) return;
  await buildPage({
    root: source,
    base: "./",
    logLevel: "warn",
    build: { outDir: join(next, "ui"), emptyOutDir: true, target: "es2022" },
  });
}
