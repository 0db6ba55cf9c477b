// A job and its rows as they are shown to who may look and not change: what lets anybody in somewhere is taken out.
import { isRecord } from "../core/record.ts";
import type { Mask } from "../base/mask.ts";
import { redacted } from "../config/redact.ts";
import { looksSecret } from "../config/secrets.ts";
import type { RunEntry } from "./entry.ts";
import type { Job } from "./job.ts";

/** Everything people write into it, by its name (a header, a flag, a variable), its form, and as a known secret. */
export function veiledJob(job: Job, mask: Mask): Job {
  return veiled(job, mask) as Job;
}

/** What came out of a run is masked as every result is; why it failed may quote what it was given. */
export function veiledEntry(entry: RunEntry, mask: Mask): RunEntry {
  return veiled(entry, mask) as RunEntry;
}

function veiled(value: unknown, mask: Mask, name = ""): unknown {
  if (typeof value === "string") return looksSecret(name) && value !== "" ? redacted : veiledWords(value, mask);
  if (Array.isArray(value))
    return value.map((entry: unknown, at) => veiledWord(entry, value[at - 1], mask) ?? veiled(entry, mask, name));
  if (!isRecord(value)) return value;
  // `{ name, value }`: the one says what the other is.
  const label = typeof value["name"] === "string" ? value["name"] : "";
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      veiled(child, mask, ownNames.has(key) ? "" : key === "value" ? label : key),
    ]),
  );
}

/** A word of an argument list behind the flag it belongs to; undefined where that says nothing about it. */
function veiledWord(word: unknown, before: unknown, mask: Mask): string | undefined {
  if (typeof word !== "string" || typeof before !== "string" || !before.startsWith("-")) return undefined;
  const line = `${before} ${word}`;
  const shown = veiledWords(line, mask);
  return shown !== line && shown.startsWith(`${before} `) ? shown.slice(before.length + 1) : undefined;
}

/** Fields of the house that end like a secret and are none. */
const ownNames: ReadonlySet<string> = new Set(["sessionKey"]);

export function veiledWords(text: string, mask: Mask): string {
  const named = text.replaceAll(assigned, (written, name: string, gap: string) =>
    isSecretName(name) ? `${name}${gap}${redacted}` : written,
  );
  const flagged = named.replaceAll(flag, (written, dashes: string, name: string, gap: string) =>
    isSecretName(name) ? `${dashes}${name}${gap}${redacted}` : written,
  );
  const bare = [login, cookies, doors].reduce((words, form) => words.replaceAll(form, `$1${redacted}`), flagged);
  return mask(bare.replaceAll(inAddress, `$1${redacted}@`));
}

/** Also written in one word, as in PGPASSWORD. */
const isSecretName = (name: string): boolean =>
  looksSecret(name) || /(?:token|secret|password|passwd|passphrase|authorization)$/i.test(name);

const NAME = "(?:token|secret|password|passwd|passphrase|pwd|key|authorization|cookie|credentials?|bearer|pat)";
const VALUE = String.raw`(?:\\"[^"]*"|"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'&;|]+)`;
// A name is looked for from its beginning only: a hundred thousand letters are one try, not as many.
/** `TOKEN=x`, `"password": "x"`, `Authorization: Basic x`, `?api_key=x`. */
const assigned = new RegExp(
  String.raw`(?<![\w-])([\w-]{0,200}${NAME})((?:\\?["'])?\s*[:=]\s*(?:(?:Basic|Bearer|Bot|Token|Digest)\s+)?)${VALUE}`,
  "gi",
);
/** `--password x`. */
const flag = new RegExp(String.raw`(?<![\w-])(--?)([\w-]{0,200}${NAME})(\s+)(?!-)${VALUE}`, "gi");
/** `curl -u me:x`, `sshpass -p x`. */
const login = /((?:^|\s)(?:-u|--user|--proxy-user)[\s=]+["']?[^\s:"']+:|\bsshpass\s+-p\s*["']?)[^\s"']+/g;
/** `Cookie: a=x; b=y`. */
const cookies = /(\bcookie["']?\s*:\s*)[^"'\n]+/gi;
/** Addresses that are all it takes to post there. */
const doors =
  /(https?:\/\/(?:hooks\.slack\.com\/services|(?:[a-z]+\.)?discord(?:app)?\.com\/api\/webhooks)\/)[^\s"']+/gi;
/** `https://me:x@host`. */
const inAddress = /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{1,20}:\/\/[^/\s:@"']*:)[^/\s@"']+@/gi;
