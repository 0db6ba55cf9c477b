// Checks the rules of import-order.txt: imports go left only, leaves only through builtin.ts, no node: module in pure
// folders, restricted packages, no cycles.
import { readFileSync } from "node:fs";
import { globSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { pathToFileURL } from "node:url";

import { root } from "./project.mjs";

interface ImportRules {
  readonly order: readonly string[];
  readonly leaves: readonly string[];
  readonly pure: readonly string[];
  readonly only: ReadonlyMap<string, readonly string[]>;
}

export function checkImports(sources: ReadonlyMap<string, string>, rules: ImportRules): string[] {
  return [
    ...[...sources].flatMap(([file, code]) => importsOf(code).flatMap((target) => checkImport(file, target, rules))),
    ...findCycles(sources).map((cycle) => `import cycle: ${cycle.join(", ")}`),
  ];
}

/** Files that import each other, type imports counted (Tarjan). A late `import()` breaks a cycle. */
export function findCycles(sources: ReadonlyMap<string, string>): string[][] {
  const graph = new Map(
    [...sources]
      .filter(([file]) => !isTestFile(file))
      .map(([file, code]) => [
        file,
        staticImportsOf(code).flatMap((target) => (target.startsWith(".") ? pathOf(file, target) : [])),
      ]),
  );
  const order = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): number => {
    const at = order.size;
    order.set(file, at);
    open.push(file);
    let low = at;
    for (const next of graph.get(file) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === at) {
      const component = open.splice(open.indexOf(file));
      if (component.length > 1) cycles.push(component.toSorted());
    }
    return low;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return cycles;
}

const pathOf = (file: string, target: string): string =>
  normalize(join(dirname(file), target))
    .split(sep)
    .join("/");

function checkImport(file: string, target: string, rules: ImportRules): string[] {
  if (!target.startsWith(".")) return checkPackageImport(file, target, rules);
  const path = pathOf(file, target);
  if (file.startsWith("ui/")) return checkPageImport(file, path, rules);
  if (!path.startsWith("src/"))
    return file.startsWith("src/") && !isTestFile(file) && path !== "package.json"
      ? [`${file} imports ${path}, outside src`]
      : [];
  const [from, to] = [folderOf(file), folderOf(path)];
  const found: string[] = [];
  const [fromRank, toRank] = [rules.order.indexOf(from), rules.order.indexOf(to)];
  if (fromRank < 0) found.push(`${file}: folder '${from}' is not in import-order.txt`);
  else if (toRank > fromRank)
    found.push(`${file} (${from}) may not import ${path} (${to}): import-order.txt lists ${to} after ${from}`);
  const isTest = isTestFile(file);
  const leaf = rules.leaves.find((entry) => path === `src/${entry}` || path.startsWith(`src/${entry}/`));
  if (leaf !== undefined && !isTest && !file.startsWith(`src/${leaf}`) && !file.endsWith("/builtin.ts"))
    found.push(`${file} imports the leaf ${path}; only builtin.ts may`);
  if (path.endsWith("/builtin.ts") && !isTest && !file.startsWith("src/app/"))
    found.push(`${file} imports ${path}; only app may`);
  return found;
}

/** The page runs in a browser: it may use the pure folders and itself. */
function checkPageImport(file: string, path: string, { pure }: ImportRules): string[] {
  if (isTestFile(file) || !path.startsWith("src/") || pure.some((folder) => path.startsWith(`src/${folder}/`)))
    return [];
  return [`${file} imports ${path}; the page may use only ${pure.join(" and ")}`];
}

function checkPackageImport(file: string, target: string, rules: ImportRules): string[] {
  if (isTestFile(file)) return [];
  if (target.startsWith("node:")) {
    const pure = rules.pure.find((folder) => file.startsWith(`src/${folder}/`));
    return pure === undefined ? [] : [`${file} imports ${target}; ${pure} may not import node: modules`];
  }
  const name = target.startsWith("@") ? target.split("/").slice(0, 2).join("/") : (target.split("/")[0] ?? target);
  const places = rules.only.get(name);
  if (places === undefined || places.some((place) => file.startsWith(place))) return [];
  return [`${file} imports ${name}, which only ${places.join(", ")} may`];
}

/** Tests and shared contract cases may import a leaf. */
function isTestFile(file: string): boolean {
  return /\.(test|cases)\.ts$/.test(file) || file.includes("/cases/");
}

function folderOf(path: string): string {
  const second = path.split("/")[1] ?? "";
  if (second === "bin.ts") return "cli";
  return second.replace(/\.ts$/, "");
}

function importsOf(code: string): string[] {
  const late = [...code.matchAll(/\bimport\(\s*["']([^"']+)["']\s*\)/g)];
  return [...staticImportsOf(code), ...late.map((match) => match[1] ?? "")];
}

function staticImportsOf(code: string): string[] {
  return [
    ...code.matchAll(
      /(?:^|[;\s])(?:import|export)\s[^'"`;]*?from\s*["']([^"']+)["']|(?:^|[;\s])import\s*["']([^"']+)["']/g,
    ),
  ].map((match) => match[1] ?? match[2] ?? "");
}

export function parseImportRules(text: string): ImportRules {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const rows = lines.map((line) => line.trim().split(/\s+/));
  const valuesOf = (word: string): string[] => rows.flatMap(([first, ...rest]) => (first === word ? rest : []));
  return {
    order: rows[0] ?? [],
    leaves: valuesOf("leaf"),
    pure: valuesOf("pure"),
    only: new Map(
      rows.flatMap(([first, name, ...rest]) => (first === "only" && name !== undefined ? [[name, rest] as const] : [])),
    ),
  };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const files = globSync("{src,ui/src}/**/*.ts", { cwd: root });
  const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
  const found = checkImports(sources, parseImportRules(readFileSync(join(root, "import-order.txt"), "utf8")));
  for (const line of found) process.stderr.write(`imports: ${line}\n`);
  process.exit(found.length === 0 ? 0 : 1);
}
