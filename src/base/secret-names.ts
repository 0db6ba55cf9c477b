// Which names announce a secret: keys of a config, variables, options, headers.

/** `apiKey`, `OPENAI_API_KEY`, `x-api-key`, `Authorization`; not `maxTokens`, `tokenFile` or `publicKey`. */
export function looksSecret(name: string): boolean {
  const words = wordsOf(name);
  return secretEnd.test(words) && !/(^|_)public_key$/.test(words);
}

/** Wider, for command lines: also `PGPASSWORD`, `-storepass`, `SECRET_KEY_BASE`, `--auth`. */
export function looksSecretInCommand(name: string): boolean {
  const words = wordsOf(name);
  if (looksSecret(name)) return true;
  return joinedEnd.test(words) || (secretInside.test(words) && !harmlessEnd.test(words));
}

function wordsOf(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_");
}

const secretEnd =
  /(^|_)(token|secret|password|passwd|passphrase|passcode|pass|pwd|key|apikey|authorization|cookie|credentials?|bearer|pat)$/;
/** Written in one word with what it belongs to. */
const joinedEnd =
  /(?:(?:token|secret|password|passwd|passphrase|authorization|apikey)|(?:^|_)(?:db|pg|my|sql|ssh|store|key|user|root|http|ftp|smtp|dest|src|new)pass|(?:^|_)(?:auth|creds?|passin|passout|requirepass|signature|sig|otp|pin|secrets|passwords))$/;
const secretInside = /(?:^|_)(?:token|secret|password|passwd|passphrase|api_?key|private_key|access_key)_/;
/** What is about a secret and is none itself. */
const harmlessEnd =
  /_(?:file|path|dir|folder|name|names|id|ids|stdin|env|fd|ttl|expiry|expires|expiration|type|format|length|size|count|limit|limits|policy|prompt|url|uri|endpoint|host|port|version|algorithm|rotation|store|manager|ref|hint|help|required|enabled)$/;
