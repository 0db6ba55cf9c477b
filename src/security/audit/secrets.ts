// Checks where secrets are stored: in the config, in a repository, or unredacted in logs.
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { formatPath } from "../../config/path.ts";
import { findSecrets } from "../../config/secrets.ts";
import { at, setKey, unsetKey, type Finding, type AuditContext } from "./finding.ts";
import { shellWord } from "./files.ts";

export function checkSecrets(context: AuditContext): Finding[] {
  const { loaded, paths } = context;
  const plain = plainSecrets(context);
  const first = plain[0];
  return [
    ...(first === undefined
      ? []
      : [
          {
            id: "secrets.plain",
            weight: "low" as const,
            what: `${plain.length} ${plain.length === 1 ? "secret is" : "secrets are"} written out in the config: ${plain.slice(0, 6).join(", ")}${plain.length > 6 ? " …" : ""}`,
            why: "copies, backups and screen shares of the config contain them; a reference to the environment does not",
            where: at(context, first),
            fix: moveToEnvironment(first, shellWord(join(paths.state, ".env"))),
          },
        ]),
    ...(first === undefined ? [] : inRepository(context, first)),
    ...(loaded.config.logging?.redactSensitive === "off"
      ? [
          {
            id: "secrets.unmasked",
            weight: "medium" as const,
            what: "logging.redactSensitive is off: secrets in tool calls are not redacted",
            why: "logs are read, sent and kept by more people than secrets should be",
            where: at(context, "logging.redactSensitive"),
            fix: unsetKey("logging.redactSensitive"),
          },
        ]
      : []),
  ];
}

/** Without the value itself, which would be on the screen and in the shell history. */
function moveToEnvironment(path: string, file: string): string {
  const name = path
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replace(/_$/, "");
  const value = `"$(openclaw config get ${shellWord(path)})"`;
  const set = setKey(path, `'\${${name}}'`);
  return `printf '${name}=%s\\n' ${value} >> ${file} && chmod 600 ${file} && ${set}`;
}

/** Paths whose value is in the file as plain text. A value from `${NAME}` is not. */
function plainSecrets({ loaded }: AuditContext): string[] {
  const lines = new Map<string, string[]>();
  const lineOf = (file: string, line: number): string => {
    const known = lines.get(file) ?? readFileSync(file, "utf8").split("\n");
    lines.set(file, known);
    return known[line - 1] ?? "";
  };
  return findSecrets(loaded.parsed).flatMap(({ path, value }) => {
    const written = formatPath(path);
    const place = loaded.locate(written);
    if (place === undefined || typeof value !== "string") return [];
    const line = lineOf(place.file, place.line);
    const isWrittenOut = line.includes(JSON.stringify(value).slice(1, -1)) || !/\$\{[A-Z_][A-Z0-9_]*\}/.test(line);
    return isWrittenOut ? [written] : [];
  });
}

function inRepository(context: AuditContext, first: string): Finding[] {
  for (let folder = dirname(context.loaded.path); ; folder = dirname(folder)) {
    if (statSync(join(folder, ".git"), { throwIfNoEntry: false }) !== undefined)
      return [
        {
          id: "secrets.repository",
          weight: "high",
          what: `the config with its secrets is in the git repository ${folder}`,
          why: "one push publishes them, and the history keeps them",
          where: at(context, first),
          fix: `echo ${shellWord(context.loaded.path.slice(folder.length))} >> ${shellWord(join(folder, ".gitignore"))}`,
        },
      ];
    if (folder === dirname(folder)) return [];
  }
}
