// Builds what is published: dist/ with split, minified chunks of src/, and dist/ui with the page.
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { build as buildPage } from "vite";

import { root } from "./ground.mjs";

const dist = join(root, "dist");
const next = join(root, "dist.next");
rmSync(next, { recursive: true, force: true });
mkdirSync(next, { recursive: true });
await Promise.all([buildSources(), buildUi()]);
writeFileSync(join(next, "built"), new Date().toISOString());
rmSync(dist, { recursive: true, force: true });
cpSync(next, dist, { recursive: true });
rmSync(next, { recursive: true, force: true });

async function buildSources(): Promise<void> {
  const bundle = await rolldown({
    input: { bin: join(root, "src", "bin.ts") },
    platform: "node",
    external: [/^node:/],
    logLevel: "warn",
  });
  await bundle.write({ dir: next, format: "esm", minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } }, chunkFileNames: "[name]-[hash].js" });
  await bundle.close();
}

async function buildUi(): Promise<void> {
  const source = join(root, "ui");
  if (!existsSync(join(source, "index.html"))) return;
  await buildPage({ root: source, base: "./", logLevel: "warn", build: { outDir: join(next, "ui"), emptyOutDir: true, target: "es2022" } });
}
