// Builds what is published: dist/ with split, minified chunks of src/, and dist/ui with the page.
import { cpSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown, type InputOptions, type OutputOptions } from "rolldown";
import { build as buildPage } from "vite";

import { root } from "./ground.mjs";
import { keepChunks } from "./keep-chunks.ts";

const dist = join(root, "dist");
const next = join(root, "dist.next");
const started = new Date();
/** Each file costs about 0.4 ms at start, so what starts together is one file; the first group that fits takes a module and all below it. */
const chunks = [
  { name: "light", priority: 3, test: /src\/(?:bin|cli\/commands\/(?:status|config-get))\.ts$/ },
  { name: "schema", priority: 2, test: /src\/config\/load\.ts$/ },
  { name: "gateway", priority: 1, test: /src\/app\/run\.ts$/ },
];

/** Threads and processes of their own, a file each: what they share with the rest they bring along. */
const threads = [
  ["memory-worker.js", "src/memory/worker.ts"],
  ["exec-launcher.js", "src/exec/launcher-process.ts"],
  ["embed-worker.js", "src/memory/embed/local-worker.ts"],
  ["store-check.js", "src/store/check-worker.ts"],
] as const;

const shared: InputOptions = {
  platform: "node",
  external: [/^node:/],
  logLevel: "warn",
  // A module that one command needs at once and another only sometimes is loaded late by the second on purpose.
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
// A source saved while the build ran is newer than the build.
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
