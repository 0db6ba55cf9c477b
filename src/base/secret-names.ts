// Recognizes names of secrets: config keys, variables, options, headers.

/** `apiKey`, `OPENAI_API_KEY`, `x-api-key`, `Authorization`; not `maxTokens`, `tokenFile` or `publicKey`. */
export function looksSecret(name: string): boolean {
  const words = wordsOf(name);
  return secretEnd.test(words) && !/(^|_)public_key$/.test(words);
}

/** Broader, for command lines: also `PGPASSWORD`, `-storepass`, `SECRET_KEY_BASE`, `--auth`. */
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
/** Written as one word with a prefix or suffix. */
const joinedEnd =
  /(?:(?:token|secret|password|passwd|passphrase|authorization|apikey)|(?:^|_)(?:db|pg|my|sql|ssh|store|key|user|root|http|ftp|smtp|dest|src|new)pass|(?:^|_)(?:auth|authkey|jwt|psk|u?pw|[ou]pw|creds?|passin|passout|requirepass|signature|sig|otp|pin|secrets|passwords))$/;
const secretInside = /(?:^|_)(?:token|secret|password|passwd|passphrase|api_?key|private_key|access_key)_/;
/** Names that are about a secret but are not one. */
const harmlessEnd =
  /_(?:file|path|dir|folder|name|names|id|ids|stdin|env|fd|ttl|expiry|expires|expiration|type|format|length|size|count|limit|limits|policy|prompt|url|uri|endpoint|host|port|version|algorithm|rotation|store|manager|ref|hint|help|required|enabled)$/;
