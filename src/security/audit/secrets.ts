// Secrets and where they are kept: written out in the config, inside a repository, or left unmasked.
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { formatPath } from "../../config/path.ts";
import { findSecrets } from "../../config/secrets.ts";
import { at, setKey, unsetKey, type Finding, type Ground } from "./finding.ts";
import { shellWord } from "./files.ts";

export function checkSecrets(ground: Ground): Finding[] {
  const { loaded, paths } = ground;
  const plain = plainSecrets(ground);
  const first = plain[0];
  return [
    ...(first === undefined
      ? []
      : [
          {
            id: "secrets.plain",
            weight: "low" as const,
            what: `${plain.length} ${plain.length === 1 ? "secret is" : "secrets are"} written out in the config: ${plain.slice(0, 6).join(", ")}${plain.length > 6 ? " …" : ""}`,
            why: "copies, backups and screen shares of the config carry them along; a reference to the environment does not",
            where: at(ground, first),
            fix: moveToEnvironment(first, shellWord(join(paths.state, ".env"))),
          },
        ]),
    ...(first === undefined ? [] : inRepository(ground, first)),
    ...(loaded.config.logging?.redactSensitive === "off"
      ? [
          {
            id: "secrets.unmasked",
            weight: "medium" as const,
            what: "logging.redactSensitive is off: secrets in tool calls are not masked",
            why: "logs are read, sent and kept by more people than secrets should be",
            where: at(ground, "logging.redactSensitive"),
            fix: unsetKey("logging.redactSensitive"),
          },
        ]
      : []),
  ];
}

/** The value itself is not in the command: it would be on the screen, and in the history of the shell. */
function moveToEnvironment(path: string, file: string): string {
  const name = path
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replace(/_$/, "");
  const value = `"$(openclaw config get ${shellWord(path)})"`;
  const set = setKey(path, `'\${${name}}'`);
  return `printf '${name}=%s\\n' ${value} >> ${file} && chmod 600 ${file} && ${set}`;
}

/** Paths whose value stands in a file as it is. A value that came from `${NAME}` is somewhere else. */
function plainSecrets({ loaded }: Ground): string[] {
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

function inRepository(ground: Ground, first: string): Finding[] {
  for (let folder = dirname(ground.loaded.path); ; folder = dirname(folder)) {
    if (statSync(join(folder, ".git"), { throwIfNoEntry: false }) !== undefined)
      return [
        {
          id: "secrets.repository",
          weight: "high",
          what: `the config with its secrets lies in the git repository ${folder}`,
          why: "one push publishes them, and history keeps them",
          where: at(ground, first),
          fix: `echo ${shellWord(ground.loaded.path.slice(folder.length))} >> ${shellWord(join(folder, ".gitignore"))}`,
        },
      ];
    if (folder === dirname(folder)) return [];
  }
}
