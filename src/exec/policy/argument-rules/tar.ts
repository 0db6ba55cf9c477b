// tar: accepts listed options; rejects those that start a helper, read options from files or contact other machines.
import { readOptions } from "./options.ts";
import { concern, fine, type Rule } from "./rule.ts";

const entries = "cxtrudvzjJZpkmhOwWSlo";
const valued = "fC";

export const tarRule: Rule = (args) => {
  const read = readOptions(dashed(args), {
    entries,
    valued,
    long: "--create --extract --get --list --append --update --diff --compare --verbose --gzip --bzip2 --xz --zstd --lzma --keep-old-files --no-same-owner --no-same-permissions --same-permissions --preserve-permissions --numeric-owner --wildcards --no-wildcards --anchored --dereference --to-stdout --totals --verify --skip-old-files --overwrite --no-recursion --exclude-vcs --sparse --auto-compress --version --help",
    longValued:
      "--file --directory --strip-components --exclude --owner --group --mode --mtime --transform-none --format --sort",
  });
  if (read === undefined) return concern("tar is given an option that can run a helper, or that is not known");
  const archives = read.options
    .filter(({ name }) => name === "-f" || name === "--file")
    .map(({ value }) => value ?? "");
  return archives.some((archive) => archive.includes(":"))
    ? concern("tar is given an archive on another machine")
    : fine;
};

/** The old form: the first word is a cluster of letters, and their values follow in order. */
function dashed(args: readonly string[]): readonly string[] {
  const [first = "", ...rest] = args;
  if (first === "" || first.startsWith("-")) return args;
  const taking = Array.from(first).filter((entry) => valued.includes(entry));
  const plain = Array.from(first).filter((entry) => !valued.includes(entry));
  const values = taking.flatMap((entry, index) => [`-${entry}`, rest[index] ?? ""]);
  return [...(plain.length > 0 ? [`-${plain.join("")}`] : []), ...values, ...rest.slice(taking.length)];
}
