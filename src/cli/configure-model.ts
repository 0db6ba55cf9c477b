// Sets up a model: provider, API key in a private file, the choice in the config, and one small test request.
import { text as readAll } from "node:stream/consumers";

import { OpenClawError } from "../core/error.ts";
import { defaultAgentId } from "../config/agents.ts";
import type { Edit } from "../config/edit.ts";
import type { Config } from "../config/schema/index.ts";
import { newServer } from "../model/providers.ts";
import { askChoice, askLine, askSecret } from "./ask.ts";
import { UsageError } from "./command.ts";
import { editConfig, reportChange } from "./config-change.ts";
import { keepKey } from "./credential-file.ts";
import type { Io } from "./io.ts";
import { chooseModel, parseModelRef } from "./model-choice.ts";
import { openModels, sayTest } from "./models-here.ts";
import { shortPath } from "./print.ts";
import { requireConfig } from "./settings.ts";

export interface ModelFlags {
  readonly provider?: string;
  readonly key?: string;
  readonly "key-env"?: string;
  readonly "base-url"?: string;
  readonly model?: string;
  readonly "skip-test"?: boolean;
}

const vendors = ["anthropic", "openai", "google", "openrouter"] as const;
const local = "your own server (Ollama, LM Studio, vLLM …)";

export async function configureModel(io: Io, flags: ModelFlags): Promise<void> {
  const { config } = await requireConfig(io);
  const provider = await providerOf(io, flags);
  const baseUrl = await baseUrlOf(io, flags, provider);
  const key = await keyOf(io, flags, provider, baseUrl);
  if (key !== undefined) {
    const file = keepKey(io.paths(), config, defaultAgentId(config), provider, key);
    io.say(`stored the key of ${provider} in ${shortPath(file, io)}, which only you can read`);
  }
  const ref = await refOf(io, flags, provider, baseUrl !== undefined);
  const profile = key === undefined ? [] : profileEdits(config, provider);
  const change = editConfig(io, "agents.defaults.model.primary", (before) => [
    ...(baseUrl === undefined ? [] : serverEdits(before.config, provider, baseUrl, ref)),
    ...profile,
    ...chooseModel(before.config, ref),
  ]);
  reportChange(io, change, change.changed ? `the model is now ${ref}` : `the model is already ${ref}`);
  if (flags["skip-test"] !== true) await tryIt(io, ref);
}

async function providerOf(io: Io, flags: ModelFlags): Promise<string> {
  const named =
    flags.provider ?? (flags.model === undefined ? undefined : parseModelRef(flags.model, ["configure"]).provider);
  const chosen = named ?? (await askChoice(io, "Which provider?", [...vendors, local], "--provider <id>"));
  const provider =
    chosen === local ? await askLine(io, "A short name for it, such as ollama:", "--provider <id>") : chosen;
  if (/^[a-z0-9][a-z0-9._-]*$/i.test(provider)) return provider.toLowerCase();
  throw new UsageError(`not a provider name: ${JSON.stringify(provider)}`, ["configure"]);
}

async function baseUrlOf(io: Io, flags: ModelFlags, provider: string): Promise<string | undefined> {
  const isVendor = vendors.some((vendor) => vendor === provider);
  const written = flags["base-url"];
  if (
    written === undefined &&
    (isVendor || flags.provider !== undefined || flags.model !== undefined || !io.interactive)
  )
    return undefined;
  const url = written ?? (await askLine(io, "Its address, such as http://127.0.0.1:11434/v1:", "--base-url <url>"));
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url.replace(/\/$/, "");
  throw new UsageError(`not an address: ${JSON.stringify(url)}; write it like http://127.0.0.1:11434/v1`, [
    "configure",
  ]);
}

/** Undefined when no key is needed or one exists: your own server, a key in the environment. */
async function keyOf(
  io: Io,
  flags: ModelFlags,
  provider: string,
  baseUrl: string | undefined,
): Promise<string | undefined> {
  const name = flags["key-env"];
  if (name !== undefined) return checkedKey(io.env[name] ?? "", `the environment variable ${name}`);
  if (flags.key !== undefined) return checkedKey(flags.key === "-" ? await readAll(process.stdin) : flags.key, "--key");
  if (!io.interactive) return undefined;
  const question =
    baseUrl === undefined ? `API key of ${provider} (empty to keep the current one):` : "API key (empty for none):";
  const typed = await askSecret(io, question, "--key-env <NAME>");
  return typed === "" ? undefined : checkedKey(typed, "that");
}

function checkedKey(raw: string, from: string): string {
  const key = raw.replaceAll(/\s+/g, "");
  // A key is sent in a header; other characters could add another header.
  if (key !== "" && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new OpenClawError("cli.bad-key", `${from} has no usable key`, {
    hint: "paste the key as the provider shows it",
  });
}

async function refOf(io: Io, flags: ModelFlags, provider: string, isOwn: boolean): Promise<string> {
  if (flags.model !== undefined) {
    const { provider: named, id } = parseModelRef(flags.model, ["configure"]);
    if (named !== provider) throw new UsageError(`--model ${flags.model} is not a model of ${provider}`, ["configure"]);
    return `${named}/${id}`;
  }
  const known = isOwn ? [] : await knownOf(io, provider);
  if (known.length > 0) return `${provider}/${await askChoice(io, "Which model?", known, "--model <provider/model>")}`;
  const id = await askLine(io, `Name of the model at ${provider}:`, "--model <provider/model>");
  return `${provider}/${parseModelRef(`${provider}/${id}`, ["configure"]).id}`;
}

async function knownOf(io: Io, provider: string): Promise<string[]> {
  const rows = await (await openModels(io)).list();
  return rows.filter((row) => row.provider === provider).map(({ id }) => id);
}

/** The config names the profile but does not contain its key. */
function profileEdits(config: Config, provider: string): Edit[] {
  const id = `${provider}:default`;
  if (config.auth?.profiles?.[id] !== undefined) return [];
  return [{ path: ["auth", "profiles", id], value: { provider, mode: "api_key" } }];
}

function serverEdits(config: Config, provider: string, baseUrl: string, ref: string): Edit[] {
  const place = ["models", "providers", provider];
  const known = config.models?.providers?.[provider];
  const id = ref.slice(provider.length + 1);
  const models = known?.models ?? [];
  if (known === undefined) return [{ path: place, value: newServer(baseUrl, id) }];
  return [
    { path: [...place, "baseUrl"], value: baseUrl },
    ...(models.some((model) => model.id === id)
      ? []
      : [{ path: [...place, "models"], value: [...models, { id, name: id }] }]),
  ];
}

/** A failed test does not undo the setup; it prints the reason. */
async function tryIt(io: Io, ref: string): Promise<void> {
  const { provider, id } = parseModelRef(ref, ["configure"]);
  const models = await openModels(io);
  sayTest(io, ref, await models.test(provider, id));
}
