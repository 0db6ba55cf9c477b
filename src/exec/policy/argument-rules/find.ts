// find: accepts only tests and actions that print; rejects -exec, -delete, -fprintf and everything else that is not listed.
import { concern, fine, type Rule } from "./rule.ts";

/** How many words follow each. */
const parts: Readonly<Record<string, number>> = {
  ...arity(
    0,
    "-print -print0 -ls -prune -quit -true -false -empty -depth -d -mount -xdev -daystart -follow -noleaf -ignore_readdir_race -noignore_readdir_race -nouser -nogroup -readable -writable -executable -warn -nowarn -a -and -o -or -not -version --version -help --help ( ) ! ,",
  ),
  ...arity(
    1,
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname -type -xtype -size -mtime -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -user -group -uid -gid -perm -links -inum -samefile -maxdepth -mindepth -printf -used -fstype -context",
  ),
};

export const findRule: Rule = (args) => {
  for (let at = expressionStart(args); at < args.length; at++) {
    const word = args[at] ?? "";
    const taken = /^-newer[aBcmt]{2}$/.test(word) ? 1 : Object.hasOwn(parts, word) ? parts[word] : undefined;
    if (taken === undefined) return concern(`find can run, write or delete with ${word.slice(0, 40)}`);
    at += taken;
    if (at >= args.length) return concern("an argument of find is missing");
  }
  return fine;
};

/** The index after the options and the starting points. */
function expressionStart(args: readonly string[]): number {
  const at = args.findIndex((word) => /^[-(!),]/.test(word) && !/^-(?:[HLP]|O[0-3])$/.test(word));
  return at < 0 ? args.length : at;
}

function arity(count: number, names: string): Record<string, number> {
  return Object.fromEntries(names.split(" ").map((name) => [name, count]));
}
