// `openclaw approvals get`: shows the rules for programs on a host, as written.
import { atPlace, placeOptions } from "../approvals-place.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { columns, oneLine, shortPath, toJson } from "../print.ts";
import type { ApprovalsSnapshot } from "../../exec/policy/file.ts";
import { unknownKeys } from "../../exec/policy/unknown-keys.ts";
import { approvalsKeys } from "../../protocol/methods/approvals.ts";

type AllowEntry = NonNullable<NonNullable<ApprovalsSnapshot["file"]["agents"]>[string]["allowlist"]>[number];

export const command = defineCommand({
  options: placeOptions,
  examples: [
    { line: "approvals get", does: "the file on this machine" },
    { line: "approvals get --gateway --json", does: "the file of the gateway, with its hash" },
    { line: "approvals get --node workshop", does: "the file of a node" },
  ],
  async run(io, { options }) {
    const snapshot = await atPlace(io, options, (place) => place.read());
    io.print(io.json ? toJson(snapshot) : approvalLines(snapshot, io).join("\n"));
    return 0;
  },
});

export function approvalLines({ path, exists, file, lost }: ApprovalsSnapshot, io: Io): string[] {
  const missing =
    lost === true
      ? " (missing: its last known rules stay in force; write them back with: openclaw approvals restore)"
      : " (does not exist: no rules, so every program needs approval)";
  const place = `${shortPath(path, io)}${exists ? "" : missing}`;
  const agents = Object.entries(file.agents ?? {}).flatMap(([id, { allowlist = [], ...level }]) => [
    io.paint.strong(`Agent ${oneLine(id)}`),
    ...columns(
      [
        ["Level", levelText(level)],
        ["Allowed", allowlist.length === 0 ? "none" : allowlist.map(entryText).join("\n")],
      ],
      { width: io.width, indent: "  " },
    ),
  ]);
  return [
    ...columns(
      [
        ["File", place],
        ["Defaults", levelText(file.defaults ?? {})],
      ],
      { width: io.width },
    ),
    ...agents,
    ...withoutEffect(file, io),
  ];
}

/** Shows keys that have no effect here, so that their author notices. */
function withoutEffect(file: ApprovalsSnapshot["file"], io: Io): string[] {
  const paths = unknownKeys(file).map(({ path }) => oneLine(path));
  return paths.length === 0
    ? []
    : columns([["Unknown", `${paths.join("\n")}\n(kept, without effect)`]], { width: io.width });
}

function levelText(level: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(level)
    .filter(([name]) => approvalsKeys.rules.includes(name))
    .map(([name, value]) => `${name} ${oneLine(String(value))}`);
  return words.length === 0 ? "as in the config" : words.join(", ");
}

function entryText({ pattern, args, argPattern, cwd, sha256 }: AllowEntry): string {
  const bound = [
    ...(args === undefined ? [] : [`only with ${args.length === 0 ? "no arguments" : JSON.stringify(args)}`]),
    ...(argPattern === undefined ? [] : [`only with arguments like ${argPattern}`]),
    ...(cwd === undefined ? [] : [`in ${cwd}`]),
    ...(sha256 === undefined ? [] : [`while its sha256 is ${sha256.slice(0, 16)}…`]),
  ];
  return oneLine([pattern, ...bound].join(", "));
}
