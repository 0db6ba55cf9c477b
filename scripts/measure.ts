// Prints the size of the tree: files, lines, longest files, ratio of tests to sources. Information only; it never
// fails.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "./project.mjs";

const lines = (path: string): number => readFileSync(join(root, path), "utf8").split("\n").length;
const all = globSync("{src,test,ui,bench,scripts}/**/*.{ts,mjs}", { cwd: root }).map((path) => ({
  path,
  count: lines(path),
}));
const isTest = (path: string): boolean => /\.(test|cases)\.ts$/.test(path) || path.startsWith("test/");
const sources = all.filter(({ path }) => path.startsWith("src/") && !isTest(path));
const tests = all.filter(({ path }) => isTest(path));
const sum = (rows: readonly { count: number }[]): number => rows.reduce((total, { count }) => total + count, 0);

const folders = new Map<string, number>();
for (const { path, count } of sources) {
  const folder = path.split("/")[1] ?? "";
  folders.set(folder, (folders.get(folder) ?? 0) + count);
}
for (const [folder, count] of [...folders].sort((a, b) => b[1] - a[1]))
  console.log(`${String(count).padStart(6)}  src/${folder}`);
const sorted = sources.map(({ count }) => count).sort((a, b) => a - b);
console.log(
  `${sum(sources)} lines in ${sources.length} source files, median ${sorted[Math.floor(sorted.length / 2)]}, longest ${sorted.at(-1)}`,
);
console.log(`${sum(tests)} lines of tests: ${(sum(tests) / sum(sources)).toFixed(2)} per source line`);
for (const { path, count } of sources.filter(({ count: own }) => own > 250).sort((a, b) => b.count - a.count))
  console.log(`long: ${path} ${count}`);
