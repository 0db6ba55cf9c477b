// `openclaw config get`: prints one value in force, or the whole file with its secrets redacted.
import { OpenClawError } from "../../core/error.ts";
import { readParts } from "../../config/parts.ts";
import { peekConfig } from "../../config/peek.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { shortPath, toJson } from "../print.ts";
import { invalidConfig, sayLegacy } from "../settings.ts";

export const command = defineCommand({
  details:
    "A single value is printed as it is, also a secret, because you name it. In objects and in the whole config, secrets are redacted.",
  arguments: [
    {
      name: "path",
      description: "Such as gateway.port or agents.list[0].tools.allow (default: the whole config).",
      optional: true,
    },
  ],
  options: {
    "show-secrets": { type: "boolean", description: "Do not redact secrets in objects." },
  },
  examples: [
    { line: "config get gateway.port", does: "one value, or its default" },
    { line: "config get 'agents.list[0].tools'", does: "an object, as JSON" },
    { line: "config get", does: "the whole file" },
  ],
  exits: "0 printed, 1 the value does not exist or the file cannot be read, 2 wrong usage",
  async run(io, { options, arguments: [path] }) {
    const isOpen = options["show-secrets"] === true;
    sayLegacy(io);
    if (path === undefined) return printWhole(io, isOpen);
    const { found, value, from } = await peekConfig({ paths: io.paths(), env: io.env }, path);
    if (!found) throw await notFound(io, path);
    const isScalar = typeof value !== "object" || value === null;
    const shown = isScalar || isOpen ? value : await hiddenAt(io, path, value);
    io.print(typeof shown === "string" && !io.json ? shown : toJson(shown));
    if (from === "default" && io.interactive && !io.json)
      io.say(io.paintError.dim(`(the default; ${shortPath(io.paths().config, io)} does not set it)`));
    return 0;
  },
});

async function printWhole(io: Io, isOpen: boolean): Promise<number> {
  const { parsed, env, issues, exists } = readParts({ paths: io.paths(), env: io.env });
  if (issues.length > 0) {
    throw invalidConfig(issues, io);
  }
  const { redactConfig, secretsOfEnv } = await import("../../config/redact.ts");
  io.print(toJson(isOpen ? parsed : redactConfig(parsed, secretsOfEnv(env))));
  if (!exists && !io.json) io.say(`${shortPath(io.paths().config, io)} does not exist; the defaults apply`);
  return 0;
}

/** Redacts by the position in the whole tree, because the parent key decides what is secret. */
async function hiddenAt(io: Io, path: string, value: unknown): Promise<unknown> {
  const [{ redactConfig, secretsBeside }, { getAt, parsePath, setAt }] = await Promise.all([
    import("../../config/redact.ts"),
    import("../../config/path.ts"),
  ]);
  const segments = parsePath(path);
  // A tree cannot be built with a gap in a list, so the item is put first and read from there.
  const alone = segments.map((segment) => (typeof segment === "number" ? 0 : segment));
  const { parsed, env } = readParts({ paths: io.paths(), env: io.env });
  return getAt(redactConfig(setAt({}, alone, value), secretsBeside(parsed, env)), alone);
}

async function notFound(io: Io, path: string): Promise<OpenClawError> {
  const { nearestKey } = await import("../../config/nearest-key.ts");
  const known = nearestKey(path);
  const hint =
    known.kind === "exact"
      ? `the key exists but is not set and has no default; set it with: openclaw config set ${path} <value>`
      : known.kind === "near"
        ? `did you mean: openclaw config get ${known.path}`
        : "list the known keys with: openclaw config schema";
  return new OpenClawError("config.not-found", `Config path not found: ${path}`, {
    hint,
    details: { path, file: io.paths().config },
  });
}
