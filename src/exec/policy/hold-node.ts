// Starts Node with the bytes of an approved script instead of its path; the script sees its own path as usual.
import type * as Files from "node:fs";
import { extname, join } from "node:path";
import type * as Paths from "node:path";
import type * as Urls from "node:url";
import type * as Vm from "node:vm";

import type { ScriptUse } from "./script-use.ts";

/** The two names of the copy; Node uses the one whose extension fits the module kind. */
export const nodeCopies = (folder: string): { readonly module: string; readonly commonjs: string } => ({
  module: join(folder, "held.mjs"),
  commonjs: join(folder, "held.cjs"),
});

/** The source of a module that runs before the script; the script name and its arguments follow it. */
export function nodeStart(folder: string, { file }: Pick<ScriptUse, "file">): string {
  const kind = { ".mjs": "module", ".cjs": "commonjs" }[extname(file.real)];
  const given = [nodeCopies(folder), file.real, kind ?? null].map((one) => JSON.stringify(one)).join(", ");
  return `"use strict";\n(${start.toString()})(require, ${given});\n`;
}

interface ModuleOfNode {
  new (
    id: string,
    parent: null,
  ): {
    filename: string;
    paths: string[];
    loaded: boolean;
    _compile(text: string, name: string): void;
  };
  readonly _cache: Record<string, unknown>;
  _nodeModulePaths(folder: string): string[];
  registerHooks?(hooks: object): void;
  register?(hooks: string, given: object): void;
  runMain(path: string): void;
}

/** Runs in the script's process in any version of Node, so it must not use anything from this module. */
function start(
  from: NodeJS.Require,
  copies: ReturnType<typeof nodeCopies>,
  real: string,
  known: "module" | "commonjs" | null,
): void {
  const { readFileSync, existsSync } = from("node:fs") as typeof Files;
  const paths = from("node:path") as typeof Paths;
  const { pathToFileURL } = from("node:url") as typeof Urls;
  const { compileFunction } = from("node:vm") as typeof Vm;
  const Module = from("node:module") as ModuleOfNode;
  const source = readFileSync(copies.module, "utf8");
  delete from.cache[process.argv[1] ?? ""];
  process.argv.splice(1, 1);
  process.argv[1] = paths.resolve(process.argv[1] ?? "");

  /** Decided as Node does: by the nearest package.json, else by the source text. */
  const kindOf = (): "module" | "commonjs" => {
    for (let folder = paths.dirname(real); ; folder = paths.dirname(folder)) {
      const path = paths.join(folder, "package.json");
      if (existsSync(path)) {
        const { type } = JSON.parse(readFileSync(path, "utf8")) as { type?: string };
        if (type === "module" || type === "commonjs") return type;
        break;
      }
      if (folder === paths.dirname(folder)) break;
    }
    try {
      compileFunction(source.replace(/^#!.*/, ""), ["exports", "require", "module", "__filename", "__dirname"]);
      return "commonjs";
    } catch {
      return "module";
    }
  };

  const format = known ?? kindOf();
  const url = pathToFileURL(real).href;
  if (Module.registerHooks !== undefined) {
    type Next = (name: string, context: object) => object;
    Module.registerHooks({
      resolve: (name: string, context: { parentURL?: string }, next: Next) =>
        context.parentURL === undefined ? { url, format, shortCircuit: true } : next(name, context),
      load: (name: string, context: object, next: Next) =>
        name === url ? { format, source, shortCircuit: true } : next(name, context),
    });
    // Loaded from a path that no other process can replace, but reported to Node as the script itself.
    Module.runMain(copies[format]);
    return;
  }
  if (format === "module") {
    if (Module.register === undefined)
      throw new Error("an approved ES module needs Node 20.6 or newer to run as approved");
    const hooks = `let held;
      export const initialize = (given) => { held = given; };
      export const resolve = (name, context, next) => context.parentURL === undefined
        ? { url: held.url, format: "module", shortCircuit: true } : next(name, context);
      export const load = (url, context, next) => url === held.url
        ? { format: "module", source: held.source, shortCircuit: true } : next(url, context);`;
    Module.register(`data:text/javascript,${encodeURIComponent(hooks)}`, { data: { url, source } });
    Module.runMain(copies.module);
    return;
  }
  const main = new Module(".", null);
  Object.assign(process, { mainModule: main });
  main.filename = real;
  main.paths = Module._nodeModulePaths(paths.dirname(real));
  Module._cache[real] = main;
  main._compile(source, real);
  main.loaded = true;
}
